# Two groups of one job: a server and its workers.
# accept: yes

job "mail" {
  group "server" {
    network {
      port "smtp" {
        static = 2525
      }
    }
    task "server" {
      driver = "exec"
      config {
        command = "/usr/local/bin/smtpd"
      }
      env {
        SMTP_LISTEN = "${NOMAD_IP_smtp}:${NOMAD_PORT_smtp}"
        TZ          = "UTC"
      }
    }
  }

  group "workers" {
    count = 4
    task "worker" {
      driver = "exec"
      config {
        command = "/usr/local/bin/mail-worker"
      }
    }
  }
}
