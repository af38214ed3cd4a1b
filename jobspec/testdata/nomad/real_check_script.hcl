# A script in the container decides about the health of the service.
# accept: yes
# ends without CAP_SYS_RESOURCE: fails: above the hard limit of the node's agent

job "queue" {
  group "queue" {
    network {
      mode = "bridge"
      port "amqp" {
        to = 5672
      }
    }

    service {
      name     = "queue"
      port     = "amqp"
      provider = "nomad"
      check {
        name     = "diagnostics"
        type     = "script"
        task     = "rabbitmq"
        command  = "/usr/bin/rabbitmq-diagnostics"
        args     = ["-q", "ping"]
        interval = "10s"
        timeout  = "5s"
      }
    }

    task "rabbitmq" {
      driver       = "docker"
      kill_timeout = "1m"
      config {
        image    = "rabbitmq:3.13-management"
        hostname = "rabbit-${NOMAD_ALLOC_INDEX}"
        ports    = ["amqp"]
        ulimit {
          nofile = "65536:65536"
        }
      }
    }
  }
}
