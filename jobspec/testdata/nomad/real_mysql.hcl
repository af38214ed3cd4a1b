# A database on a volume of the node, with its password from a variable.
# accept: yes

job "mysql" {
  group "db" {
    volume "data" {
      type      = "host"
      source    = "mysql"
      read_only = false
    }

    network {
      mode = "bridge"
      port "db" {
        static = 3306
        to     = 3306
      }
    }

    update {
      max_parallel     = 1
      min_healthy_time = "5s"
    }

    restart {
      attempts = 10
      interval = "5m"
      delay    = "25s"
      mode     = "delay"
    }

    service {
      name     = "mysql"
      port     = "db"
      provider = "nomad"
      check {
        type     = "tcp"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "mysql" {
      driver       = "docker"
      kill_timeout = "30s"
      config {
        image = "mysql:8.4"
        ports = ["db"]
        args  = ["--datadir", "/var/lib/mysql/data"]
      }
      volume_mount {
        volume      = "data"
        destination = "/var/lib/mysql"
      }
      template {
        destination = "secrets/mysql.env"
        env         = true
        data        = <<-EOT
          {{ with nomadVar "nomad/jobs/mysql" -}}
          MYSQL_ROOT_PASSWORD={{ .root_password }}
          {{- end }}
        EOT
      }
      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
