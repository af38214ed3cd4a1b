# A web service with a database that keeps its data in a volume. Both know the
# password of the database: the database by a secret block, the web service by a
# template, which also writes the address of the database.
#
#     sudo reeve agent -dev
#     reeve volume create examples/volume-create.hcl
#     reeve var put nomad/jobs/bookshop password=PASSWORD
#     reeve job run examples/bookshop.hcl
#
# Each request to a web instance is counted in the database. The number survives
# "reeve job restart bookshop", and also the end of the job:
#
#     curl http://127.0.0.1:PORT/
#
# A new password reaches all tasks without the job being registered again:
#
#     reeve var put nomad/jobs/bookshop password=OTHER
job "bookshop" {
  # The web starts when the database is healthy.
  plan "deploy" {
    strategy = "serial"

    phase "db" {
      strategy = "serial"
    }

    phase "web" {
      strategy = "serial"
    }
  }

  update {
    min_healthy_time  = "1s"
    healthy_deadline  = "30s"
    progress_deadline = "1m"
  }

  group "db" {
    volume "data" {
      type   = "host"
      source = "data"
      sticky = true
    }

    network {
      port "http" {}
    }

    service {
      name     = "bookshop-db"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    # Its program is a part of Reeve, so that this example needs nothing else on
    # the machine.
    task "db" {
      driver = "exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-store", "-dir", "/data"]
      }

      secret "shop" {
        provider = "nomad"
        path     = "nomad/jobs/bookshop"
      }

      # A secret is read when the task starts. This template restarts the task
      # when it changes.
      template {
        destination = "${NOMAD_SECRETS_DIR}/password"
        data        = "{{with nomadVar \"nomad/jobs/bookshop\"}}{{.password}}{{end}}"
        change_mode = "restart"
        splay       = "0s"
      }

      env {
        PASSWORD = "${secret.shop.password}"
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }

  group "web" {
    count = 2

    network {
      port "http" {}
    }

    service {
      name     = "bookshop"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    task "web" {
      driver = "exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      template {
        destination = "${NOMAD_SECRETS_DIR}/env"
        env         = true
        change_mode = "restart"
        splay       = "0s"
        data        = <<EOF
{{range nomadService "bookshop-db"}}
CALL=http://web:{{with nomadVar "nomad/jobs/bookshop"}}{{.password}}{{end}}@{{.Address}}:{{.Port}}/visits
{{end}}
EOF
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
