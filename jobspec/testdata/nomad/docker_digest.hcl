# An image by its digest.
# accept: yes
# ends: fails: the registry answered 404 Not Found

job "docker-digest" {
  datacenters = ["dc1"]

  group "docker" {
    task "digest" {
      driver = "docker"

      config {
        image           = "registry.example.com/shop/web@sha256:9f1c2b0d4a5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8"
        readonly_rootfs = true
      }
    }
  }
}
