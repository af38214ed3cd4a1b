# Published ports by label, on the network of the host.
# accept: yes

job "docker-ports" {
  datacenters = ["dc1"]

  group "docker" {
    network {
      port "http" {
        static = 8080
        to     = 80
      }
      port "admin" {
        to = 9000
      }
    }

    task "ports" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        ports = ["http", "admin"]
      }
    }
  }
}
