# Fixed ports, and one that is free to choose.
# accept: yes

job "network-static-ports" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode = "host"
      port "http" {
        static = 8080
      }
      port "admin" {
        static = 9090
      }
      port "metrics" {}
    }

    task "ports" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
