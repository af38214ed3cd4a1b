# A network of the container engine, with an alias and an address.
# accept: yes
# ends: waits: need a Docker daemon

job "docker-network-alias" {
  datacenters = ["dc1"]

  group "docker" {
    task "alias" {
      driver = "docker"

      config {
        image           = "registry.example.com/shop/web:1.4.2"
        network_mode    = "shop"
        network_aliases = ["web", "frontend"]
        ipv4_address    = "172.29.0.20"
        mac_address     = "02:42:ac:1d:00:14"
      }
    }
  }
}
