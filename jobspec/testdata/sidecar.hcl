# An application with a proxy beside it and a migration before it.
job "shop" {
  group "shop" {
    network {
      mode = "bridge"
      port "http" {
        to           = 8080
        host_network = "public"
      }
      port "metrics" {
        static = 9102
      }
      dns {
        servers  = ["10.0.0.2", "10.0.0.3"]
        searches = ["internal"]
        options  = ["ndots:2"]
      }
    }

    shutdown_delay = "5s"

    ephemeral_disk {
      size = 600
    }

    task "migrate" {
      driver = "exec"
      lifecycle {
        hook = "prestart"
      }
      config {
        command = "/srv/shop/migrate"
      }
    }

    task "proxy" {
      driver = "exec"
      lifecycle {
        hook    = "prestart"
        sidecar = true
      }
      config {
        command = "/usr/bin/envoy"
        args    = ["-c", "local/envoy.yaml"]
      }
      restart {
        attempts         = 10
        render_templates = true
      }
    }

    task "app" {
      driver      = "exec"
      leader      = true
      kill_signal = "SIGQUIT"
      config {
        command  = "/srv/shop/serve"
        cap_add  = ["net_bind_service"]
        pid_mode = "private"
      }
    }

    task "announce" {
      driver = "exec"
      lifecycle {
        hook = "poststart"
      }
      config {
        command = "/usr/bin/curl"
        args    = ["-fsS", "https://chat.internal/hook?up=${NOMAD_ALLOC_ID}"]
      }
    }

    task "cleanup" {
      driver = "exec"
      lifecycle {
        hook = "poststop"
      }
      config {
        command = "/bin/rm"
        args    = ["-rf", "${NOMAD_ALLOC_DIR}/cache"]
      }
    }
  }
}
