# Charges cards, and keeps a ledger. The deployment has two phases: the ledger
# starts first, and the API when the ledger is healthy. A few charges are
# declined, as in real life.
#
# The plan "audit" runs when an operator starts it:
#
#     reeve plan show payments deploy
#     reeve plan start -watch payments audit
variable "router" {
  type        = string
  default     = "127.0.0.1:8080"
  description = "The address of the node's router, through which the services call each other."
}

job "payments" {
  plan "deploy" {
    strategy = "serial"

    phase "ledger" {
      strategy = "serial"
      step {
        tasks = ["prepare"]
      }
      step {
        tasks = ["server"]
      }
    }

    phase "api" {
      strategy = "serial"
    }
  }

  plan "audit" {
    phase "ledger" {
      strategy = "serial"
      step {
        tasks = ["audit"]
      }
    }
  }

  update {
    min_healthy_time  = "1s"
    healthy_deadline  = "30s"
    progress_deadline = "1m"
  }

  group "ledger" {
    network {
      port "http" {}
    }

    route {
      host = "ledger.localhost"
      port = "http"
    }

    service {
      name     = "ledger"
      port     = "http"
      provider = "nomad"

      check {
        name     = "ready"
        type     = "http"
        kind     = "readiness"
        path     = "/healthz"
        interval = "5s"
        timeout  = "1s"
      }
    }

    # The goal "finish" makes it a task that ends: its step is complete then.
    task "prepare" {
      driver = "raw_exec"
      goal   = "finish"

      config {
        command = "/bin/sh"
        args    = ["-c", "date > $NOMAD_ALLOC_DIR/data/opened && echo the ledger is open"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "ledger"]
      }

      env {
        VERSION = "3.1.0"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }

    # Only the plan "audit" starts this task.
    task "audit" {
      driver = "raw_exec"
      goal   = "finish"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"the ledger has been open since $(cat $NOMAD_ALLOC_DIR/data/opened)\"; sleep 5; echo the ledger is balanced"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }

  group "api" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "payments.localhost"
      port = "http"
    }

    service {
      name     = "payments"
      port     = "http"
      provider = "nomad"

      check {
        name     = "ready"
        type     = "http"
        kind     = "readiness"
        path     = "/healthz"
        interval = "5s"
        timeout  = "1s"
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "payments"]
      }

      # The key of the bank is a variable of the cluster: reeve var get nomad/jobs/payments
      template {
        destination = "${NOMAD_SECRETS_DIR}/bank.env"
        env         = true
        data        = <<-EOF
          {{with nomadVar "nomad/jobs/payments"}}BANK_KEY={{.bank_key}}{{end}}
        EOF
      }

      env {
        VERSION    = "3.1.0"
        LATENCY    = "20ms"
        ERRORS     = "8"
        LEDGER_URL = "http://ledger.localhost"
        http_proxy = "http://${var.router}"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
