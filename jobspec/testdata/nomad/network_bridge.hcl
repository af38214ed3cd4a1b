# A network of its own, with a mapped port.
# accept: yes

job "network-bridge" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    task "bridge" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
