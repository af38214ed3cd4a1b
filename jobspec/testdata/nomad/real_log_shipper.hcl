# A container beside the application reads its log files from the shared directory.
# accept: yes

job "orders" {
  group "orders" {
    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    task "orders" {
      driver = "docker"
      leader = true
      config {
        image = "registry.example.com/shop/orders:5.0.1"
        ports = ["http"]
      }
      logs {
        max_files     = 3
        max_file_size = 2
      }
    }

    task "shipper" {
      driver = "docker"
      lifecycle {
        hook    = "poststart"
        sidecar = true
      }
      config {
        image   = "timberio/vector:0.39.0-alpine"
        args    = ["--config", "/local/vector.toml"]
        volumes = ["../alloc/logs:/logs:ro"]
      }
      template {
        destination = "local/vector.toml"
        data        = <<-EOT
          [sources.files]
          type = "file"
          include = ["/logs/orders.stdout.*"]
        EOT
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
