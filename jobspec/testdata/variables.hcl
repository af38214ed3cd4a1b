# Inputs of every type, with rules of their own.
variable "image" {
  type        = string
  description = "What to run"
  default     = "nginx:1.27"
}

variable "replicas" {
  type    = number
  default = 3

  validation {
    condition     = var.replicas > 0 && var.replicas <= 50
    error_message = "replicas must be from 1 to 50"
  }
}

variable "debug" {
  type    = bool
  default = false
}

variable "datacenters" {
  type    = list(string)
  default = ["dc1"]
}

variable "limits" {
  type = object({
    cpu    = number
    memory = optional(number, 256)
  })
  default = {
    cpu = 500
  }
}

variable "labels" {
  type    = map(string)
  default = {}
}

variables {
  zone = "a"
  port = 8080
}

job "configurable" {
  datacenters = var.datacenters

  meta {
    zone  = var.zone
    debug = var.debug
  }

  group "app" {
    count = var.replicas

    network {
      port "http" {
        static = var.port
      }
    }

    task "app" {
      driver = "docker"

      config {
        image = var.image
        args  = var.debug ? ["--verbose"] : []
      }

      meta = merge({ team = "web" }, var.labels)

      resources {
        cpu    = var.limits.cpu
        memory = var.limits.memory
      }
    }
  }
}
