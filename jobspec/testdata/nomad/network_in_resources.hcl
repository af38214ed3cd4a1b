# An old file whose network is in the resources of the task.
# accept: yes
# warns: group "network", task "resources": a network inside resources is deprecated: move it to the group

job "network-in-resources" {
  datacenters = ["dc1"]

  group "network" {
    task "resources" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", "${NOMAD_ADDR_http}"]
      }
      resources {
        cpu    = 200
        memory = 128
        network {
          port "http" {}
        }
      }
    }
  }
}
