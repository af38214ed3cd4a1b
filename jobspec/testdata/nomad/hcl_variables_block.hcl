# The short form of variables, and locals.
# accept: yes

variables {
  region = "eu"
  port   = 8080
}

locals {
  name = "gateway-${var.region}"
  tags = [for n in range(2) : "${local.name}-${n}"]
}

job "gateway" {
  meta {
    name = local.name
  }
  group "gateway" {
    network {
      port "http" {
        static = var.port
      }
    }
    service {
      name     = local.name
      port     = "http"
      provider = "nomad"
      tags     = local.tags
    }
    task "gateway" {
      driver = "exec"
      config {
        command = "/usr/local/bin/gateway"
      }
    }
  }
}
