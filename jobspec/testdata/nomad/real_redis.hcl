# A cache with a fixed port in its own network, whose data follows it on the node.
# accept: yes

job "redis" {
  datacenters = ["*"]

  group "cache" {
    ephemeral_disk {
      size    = 300
      sticky  = true
      migrate = true
    }

    network {
      mode = "bridge"
      port "redis" {
        to = 6379
      }
    }

    service {
      name     = "redis"
      port     = "redis"
      provider = "nomad"
      tags     = ["cache", "v7"]
      check {
        type     = "tcp"
        interval = "10s"
        timeout  = "1s"
      }
    }

    task "redis" {
      driver = "docker"
      config {
        image = "redis:7-alpine"
        args  = ["redis-server", "--dir", "/alloc/data", "--save", "60", "1"]
        ports = ["redis"]
      }
      resources {
        cpu        = 100
        memory     = 64
        memory_max = 256
      }
    }
  }
}
