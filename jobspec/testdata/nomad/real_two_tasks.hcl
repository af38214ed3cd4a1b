# Two containers of one group find each other on the loopback interface of their network.
# accept: yes

job "blog" {
  group "blog" {
    network {
      mode = "bridge"
      port "http" {
        to = 2368
      }
    }

    service {
      name     = "blog"
      port     = "http"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "ghost" {
      driver = "docker"
      config {
        image = "ghost:5"
        ports = ["http"]
      }
      env {
        database__connection__host = "127.0.0.1"
      }
    }

    task "memcached" {
      driver = "docker"
      lifecycle {
        hook    = "prestart"
        sidecar = true
      }
      config {
        image = "memcached:1.6"
        args  = ["-m", "32", "-l", "127.0.0.1"]
      }
      resources {
        cpu    = 20
        memory = 48
      }
    }
  }
}
