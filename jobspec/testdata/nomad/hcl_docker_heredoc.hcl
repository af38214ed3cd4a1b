# A container whose configuration is a heredoc in a template.
# accept: yes

locals {
  config = <<-EOT
    [server]
    port = 8080
  EOT
}

job "heredoc" {
  group "heredoc" {
    task "heredoc" {
      driver = "docker"
      config {
        image   = "registry.example.com/app:3"
        volumes = ["local/app.ini:/etc/app.ini"]
      }
      template {
        data        = local.config
        destination = "local/app.ini"
      }
    }
  }
}
