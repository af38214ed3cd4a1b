# Typed variables with defaults, validation and a sensitive one.
# accept: yes

variable "image_version" {
  type        = string
  default     = "1.4.2"
  description = "Version of the program."

  validation {
    condition     = can(regex("^[0-9]+[.][0-9]+[.][0-9]+$", var.image_version))
    error_message = "The version must have three numbers."
  }
}

variable "replicas" {
  type    = number
  default = 2
}

variable "features" {
  type    = map(bool)
  default = { search = true, reviews = false }
}

variable "zones" {
  type    = list(string)
  default = ["a", "b"]
}

job "catalog" {
  group "catalog" {
    count = var.replicas
    task "catalog" {
      driver = "exec"
      config {
        command = "/usr/local/catalog-${var.image_version}/bin/catalog"
        args    = concat(["--zones", join(",", var.zones)], [for k, v in var.features : "--${k}" if v])
      }
    }
  }
}
