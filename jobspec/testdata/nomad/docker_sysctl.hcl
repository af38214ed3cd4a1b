# Kernel parameters of the container.
# accept: yes
# ends: fails: would change the whole node

job "docker-sysctl" {
  datacenters = ["dc1"]

  group "docker" {
    task "sysctl" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        sysctl = {
          "net.core.somaxconn"           = "16384"
          "net.ipv4.ip_local_port_range" = "1024 65000"
        }
      }
    }
  }
}
