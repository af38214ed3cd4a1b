# A job that is important enough to take the room of another: see
# preempt-low.hcl. It starts when that has ended.
job "preempt-high" {
  priority = 80

  group "front" {
    network {
      port "http" {
        static = 18099
      }
    }

    update {
      min_healthy_time = "0s"
    }

    task "serve" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo serving; exec sleep 3600"]
      }

      resources {
        cpu    = 20
        memory = 32
      }
    }
  }
}
