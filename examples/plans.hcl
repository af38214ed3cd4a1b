# A shop of two groups whose rollout is declared: the store first, one instance
# after the other, each prepared once before its server starts; then the web,
# where a new version waits for somebody who looks at its first instance:
#
#     reeve job run examples/plans.hcl
#     reeve plan show -watch shop deploy
#     reeve plan continue shop deploy web      # twice: the first instance, then the rest
#
# The plan "backup" runs when somebody starts it, beside the running server:
#
#     reeve plan start -p LABEL=friday shop backup
variable "version" {
  type        = string
  default     = "1"
  description = "What the web says it is; change it to see a rollout."
}

variable "start_delay" {
  type        = string
  default     = "500ms"
  description = "How long the web takes to be ready; 1h for a version that never is."
}

variable "web_count" {
  type    = number
  default = 3
}

job "shop" {
  plan "deploy" {
    strategy = "serial"

    phase "store" {
      strategy = "serial"
      step {
        tasks = ["prepare"]
      }
      step {
        tasks = ["server"]
      }
    }

    phase "web" {
      strategy = "serial-canary"
    }
  }

  plan "backup" {
    phase "store" {
      strategy = "parallel"
      step {
        tasks = ["backup"]
      }
    }
  }

  update {
    min_healthy_time  = "0s"
    healthy_deadline  = "4s"
    progress_deadline = "8s"
    auto_revert       = true
  }

  # The directory stays with the instance: a crashed store is started again on
  # its node, with its data, and elsewhere only after 20 minutes.
  group "store" {
    count = 2

    recovery {
      permanent_after = "20m"
    }

    reschedule {
      delay          = "5s"
      delay_function = "constant"
      unlimited      = true
      immediate      = 1
    }

    restart {
      attempts = 0
    }

    # Done once for each directory, whatever versions come: also again when the
    # instance was replaced, or moved off its node, and has an empty one.
    task "prepare" {
      driver = "raw_exec"
      goal   = "finish"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"made for instance $NOMAD_ALLOC_INDEX\" > $NOMAD_ALLOC_DIR/data/ledger"]
      }
      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "cat $NOMAD_ALLOC_DIR/data/ledger && exec sleep 1000000"]
      }
      kill_signal = "SIGTERM"
      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "backup" {
      driver = "raw_exec"
      goal   = "finish"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"backup $LABEL: $(cat $NOMAD_ALLOC_DIR/data/ledger)\""]
      }
      restart {
        attempts = 0
      }
      resources {
        cpu    = 10
        memory = 16
      }
    }
  }

  group "web" {
    count = var.web_count

    network {
      port "http" {}
    }

    service {
      name     = "shop"
      port     = "http"
      provider = "nomad"
      check {
        name     = "healthz"
        type     = "http"
        path     = "/healthz"
        interval = "1s"
        timeout  = "1s"
      }
    }

    restart {
      attempts = 0
    }

    reschedule {
      delay          = "5s"
      delay_function = "constant"
      unlimited      = true
      immediate      = 3
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web", "-start-delay", var.start_delay]
      }
      env {
        VERSION = var.version
      }
      kill_signal = "SIGTERM"
      resources {
        cpu    = 20
        memory = 32
      }
    }
  }
}
