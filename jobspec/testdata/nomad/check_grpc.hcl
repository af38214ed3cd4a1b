# A check by the health protocol of gRPC.
# accept: yes

job "check-grpc" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      check {
        type            = "grpc"
        grpc_service    = "shop.Orders"
        grpc_use_tls    = true
        tls_skip_verify = true
        interval        = "10s"
        timeout         = "2s"
      }
    }

    task "grpc" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
