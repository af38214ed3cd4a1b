# Credentials for a private registry from variables of the file.
# accept: yes

job "docker-auth" {
  datacenters = ["dc1"]

  group "docker" {
    task "auth" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        auth {
          username       = var.registry_user
          password       = var.registry_password
          server_address = "registry.example.com"
        }
        auth_soft_fail = false
      }
    }
  }
}

variable "registry_user" {
  type    = string
  default = "deploy"
}

variable "registry_password" {
  type    = string
  default = "not-a-password"
}
