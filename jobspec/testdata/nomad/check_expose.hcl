# A check through a listener of the mesh.
# accept: refused
# needs: expose
# error: group "check": service "api": check "service: api check": expose is not supported: Reeve has no mesh; remove it: the node reaches the port itself

job "check-expose" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      check {
        type     = "http"
        path     = "/healthz"
        expose   = true
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "expose" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
