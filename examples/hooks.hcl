# What runs before, beside and after a group's main task, and the directories
# that tasks share.
#
#     reeve job run examples/hooks.hcl
#     reeve alloc fs -job hooks alloc/data/diary
#     reeve job stop hooks
#     reeve alloc fs -job hooks alloc/data/diary
job "hooks" {
  group "app" {
    # Logs of five tasks have to fit.
    ephemeral_disk {
      size = 600
    }

    update {
      min_healthy_time = "1s"
    }

    # Runs to completion before the main task starts.
    task "before" {
      driver = "raw_exec"

      lifecycle {
        hook = "prestart"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo before >> \"$NOMAD_ALLOC_DIR/data/diary\""]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    # Starts before the main task and runs beside it.
    task "beside" {
      driver = "raw_exec"

      lifecycle {
        hook    = "prestart"
        sidecar = true
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo beside >> \"$NOMAD_ALLOC_DIR/data/diary\"; while true; do sleep 1; done"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    task "main" {
      driver = "raw_exec"
      leader = true

      config {
        command = "/bin/sh"
        args    = ["-c", "echo main >> \"$NOMAD_ALLOC_DIR/data/diary\"; while true; do sleep 1; done"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    # Runs to completion once the main task runs.
    task "after-start" {
      driver = "raw_exec"

      lifecycle {
        hook = "poststart"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo after start >> \"$NOMAD_ALLOC_DIR/data/diary\""]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    # Runs when everything else has ended.
    task "after-stop" {
      driver = "raw_exec"

      lifecycle {
        hook = "poststop"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo after stop >> \"$NOMAD_ALLOC_DIR/data/diary\""]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
