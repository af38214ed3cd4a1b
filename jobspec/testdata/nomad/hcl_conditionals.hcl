# Conditions, and settings for each environment.
# accept: yes

variable "environment" {
  default = "staging"
}

locals {
  settings = {
    staging    = { count = 1, memory = 128 }
    production = { count = 5, memory = 1024 }
  }
  current = local.settings[var.environment]
}

job "api" {
  priority = var.environment == "production" ? 80 : 40
  group "api" {
    count = local.current.count
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
        args    = var.environment == "production" ? ["--quiet"] : ["--verbose"]
      }
      resources {
        memory = local.current.memory
      }
    }
  }
}
