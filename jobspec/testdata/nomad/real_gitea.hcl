# A forge with two ports, and an environment of lines from a template.
# accept: yes

job "gitea" {
  group "gitea" {
    network {
      mode = "bridge"
      port "http" {
        to = 3000
      }
      port "ssh" {
        static = 2222
        to     = 22
      }
    }

    service {
      name     = "gitea"
      port     = "http"
      provider = "nomad"
      meta {
        domain = "git.example.com"
      }
    }

    task "gitea" {
      driver = "docker"
      config {
        image    = "gitea/gitea:1.22"
        ports    = ["http", "ssh"]
        cap_add  = ["chown", "setuid", "setgid", "net_bind_service"]
        cap_drop = ["all"]
      }
      template {
        destination = "local/app.env"
        env         = true
        data        = <<-EOT
          GITEA__server__DOMAIN=git.example.com
          GITEA__server__SSH_PORT={{ env "NOMAD_HOST_PORT_ssh" }}
        EOT
      }
    }
  }
}
