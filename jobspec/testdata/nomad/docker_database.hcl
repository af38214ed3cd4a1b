# A database in a container with a host volume and a pinned node.
# accept: yes

job "postgres" {
  datacenters = ["dc1"]

  group "db" {
    volume "data" {
      type   = "host"
      source = "postgres"
    }

    network {
      port "db" {
        static = 5432
        to     = 5432
      }
    }

    restart {
      attempts = 10
      interval = "5m"
      delay    = "25s"
      mode     = "delay"
    }

    task "postgres" {
      driver       = "docker"
      kill_signal  = "SIGINT"
      kill_timeout = "2m"

      config {
        image = "postgres:16"
        ports = ["db"]
      }

      volume_mount {
        volume      = "data"
        destination = "/var/lib/postgresql/data"
      }

      env {
        POSTGRES_DB = "shop"
      }
    }
  }
}
