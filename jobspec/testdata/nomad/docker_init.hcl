# A first process that reaps orphans and passes signals on, for a user of two groups.
# accept: yes

job "docker-init" {
  datacenters = ["dc1"]

  group "docker" {
    task "worker" {
      driver = "docker"
      user   = "1000"

      config {
        image        = "registry.example.com/shop/worker:3"
        init         = true
        group_add    = ["5", "20"]
        security_opt = ["no-new-privileges"]
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
