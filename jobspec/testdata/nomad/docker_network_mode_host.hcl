# The network of the host, set in the driver.
# accept: yes

job "docker-network-mode-host" {
  datacenters = ["dc1"]

  group "docker" {
    network {
      port "http" {
        static = 8080
      }
    }

    task "host" {
      driver = "docker"

      config {
        image        = "registry.example.com/shop/web:1.4.2"
        network_mode = "host"
      }
    }
  }
}
