# A program with a container beside it.
# accept: yes

job "api" {
  group "api" {
    network {
      port "http" {}
    }
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
    task "tracer" {
      driver = "docker"
      lifecycle {
        hook    = "prestart"
        sidecar = true
      }
      config {
        image        = "registry.example.com/tracer:2"
        network_mode = "host"
      }
    }
  }
}
