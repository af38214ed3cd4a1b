# A host name for the tasks of a group.
# accept: yes

job "network-hostname" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode     = "bridge"
      hostname = "api-${NOMAD_ALLOC_INDEX}"
      port "http" {}
    }

    task "hostname" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
