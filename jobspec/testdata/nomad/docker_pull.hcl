# An image that every start pulls, with a time limit.
# accept: yes

job "docker-pull" {
  datacenters = ["dc1"]

  group "docker" {
    task "pull" {
      driver = "docker"

      config {
        image              = "registry.example.com/shop/web:latest"
        force_pull         = true
        image_pull_timeout = "15m"
      }
    }
  }
}
