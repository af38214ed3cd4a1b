# A program that uses the API of the cluster by its identity.
# accept: yes

job "autoscaler" {
  group "autoscaler" {
    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    task "autoscaler" {
      driver = "docker"
      identity {
        env  = true
        file = true
      }
      config {
        image   = "hashicorp/nomad-autoscaler:0.4.4"
        command = "nomad-autoscaler"
        args    = ["agent", "-config", "/local/config.hcl", "-http-bind-address", "0.0.0.0"]
      }
      template {
        destination = "local/config.hcl"
        data        = <<-EOT
          nomad {
            address = "unix://{{ env "NOMAD_SECRETS_DIR" }}/api.sock"
          }
        EOT
      }
      service {
        name     = "autoscaler"
        port     = "http"
        provider = "nomad"
        check {
          type     = "http"
          path     = "/v1/health"
          interval = "5s"
          timeout  = "2s"
        }
      }
    }
  }
}
