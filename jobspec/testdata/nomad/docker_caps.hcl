# Fewer and more capabilities than the default.
# accept: yes

job "docker-caps" {
  datacenters = ["dc1"]

  group "docker" {
    task "caps" {
      driver = "docker"

      config {
        image        = "registry.example.com/shop/web:1.4.2"
        cap_drop     = ["ALL"]
        cap_add      = ["net_bind_service", "chown"]
        security_opt = ["no-new-privileges"]
      }
    }
  }
}
