# A network with its own resolver.
# accept: yes

job "network-bridge-dns" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode = "bridge"
      port "http" {}
      dns {
        servers  = ["10.0.0.2", "10.0.0.3"]
        searches = ["shop.internal"]
        options  = ["ndots:2"]
      }
    }

    task "dns" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
