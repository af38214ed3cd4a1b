# Three instances of one program with a fixed port on one node: each has a network of its own, and
# a free port of the node leads to it.
#
#     sudo reeve agent -dev
#     reeve job run examples/bridge.hcl
job "fixed-port" {
  group "web" {
    count = 3

    network {
      mode = "bridge"

      port "http" {
        to = 8080
      }
    }

    service {
      name     = "web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web", "-listen", ":8080"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
