# A mapped port for a task in the network of the host: nothing maps it.
# accept: refused
# error: group "network", network, port "http": to = 8080 maps nothing: the tasks run in the host's network; leave it out and listen on $NOMAD_PORT_http, or use static = 8080

job "network-to-in-host" {
  datacenters = ["dc1"]

  group "network" {
    network {
      port "http" {
        to = 8080
      }
    }

    task "host" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
