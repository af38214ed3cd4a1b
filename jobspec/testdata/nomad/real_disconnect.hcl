# Instances that stay while their node is away, with data that moves.
# accept: yes

job "sessions" {
  group "sessions" {
    count = 2

    disconnect {
      lost_after = "2h"
      replace    = true
      reconcile  = "longest_running"
    }

    migrate {
      max_parallel     = 1
      min_healthy_time = "10s"
      healthy_deadline = "3m"
    }

    ephemeral_disk {
      size    = 200
      migrate = true
    }

    task "sessions" {
      driver = "docker"
      config {
        image = "registry.example.com/shop/sessions:1"
      }
    }
  }
}
