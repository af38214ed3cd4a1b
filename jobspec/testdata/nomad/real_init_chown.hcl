# A first container prepares the directory that the second one uses.
# accept: yes

job "wordpress" {
  group "wordpress" {
    volume "content" {
      type   = "host"
      source = "content"
    }

    network {
      mode = "bridge"
      port "http" {
        to = 80
      }
    }

    task "prepare" {
      driver = "docker"
      lifecycle {
        hook    = "prestart"
        sidecar = false
      }
      config {
        image   = "busybox:1.36"
        command = "sh"
        args    = ["-c", "mkdir -p /content/uploads && chown -R 33:33 /content"]
      }
      volume_mount {
        volume      = "content"
        destination = "/content"
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }

    task "wordpress" {
      driver = "docker"
      config {
        image = "wordpress:6-apache"
        ports = ["http"]
      }
      volume_mount {
        volume      = "content"
        destination = "/var/www/html/wp-content"
      }
    }
  }
}
