# What is done while a node is out of reach. The api may run on there for a while,
# and is started elsewhere meanwhile; when the node is back, the original goes on.
# The leader must never run twice: its node stops it, and only then is it started
# elsewhere.
#
#     reeve job run examples/disconnect.hcl
#     reeve node status      # and cut a node off
#     reeve job status disconnect
job "disconnect" {
  update {
    health_check     = "task_states"
    min_healthy_time = "500ms"
  }

  group "api" {
    count = 2

    disconnect {
      lost_after = "1m"
      replace    = true
      reconcile  = "keep_original"
    }

    # The first failure is answered at once, those right after it ever later.
    reschedule {
      immediate      = 1
      delay          = "5s"
      delay_function = "exponential"
      max_delay      = "10m"
      unlimited      = true
    }

    task "serve" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while :; do echo \"instance $NOMAD_ALLOC_INDEX serves\"; sleep 5; done"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }

  group "leader" {
    disconnect {
      stop_on_client_after = "30s"
    }

    task "lead" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while :; do echo leads; sleep 5; done"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
