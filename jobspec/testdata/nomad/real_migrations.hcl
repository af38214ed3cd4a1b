# A database is migrated before the application starts, and someone is told after it ends.
# accept: yes

job "shop-api" {
  group "api" {
    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    task "migrate" {
      driver = "docker"
      lifecycle {
        hook = "prestart"
      }
      config {
        image   = "registry.example.com/shop/migrate:12"
        command = "migrate"
        args    = ["up"]
      }
    }

    task "api" {
      driver         = "docker"
      shutdown_delay = "3s"
      config {
        image = "registry.example.com/shop/api:12"
        ports = ["http"]
      }
      service {
        name     = "shop-api"
        port     = "http"
        provider = "nomad"
        check {
          type     = "http"
          path     = "/ready"
          interval = "5s"
          timeout  = "2s"
        }
      }
    }

    task "announce" {
      driver = "docker"
      lifecycle {
        hook = "poststop"
      }
      config {
        image   = "curlimages/curl:8.8.0"
        command = "curl"
        args    = ["-X", "POST", "https://hooks.example.com/stopped"]
      }
    }
  }
}
