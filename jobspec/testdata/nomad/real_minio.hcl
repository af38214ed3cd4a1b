# An object store with two ports, and credentials as a secret.
# accept: yes

job "minio" {
  group "minio" {
    volume "data" {
      type   = "host"
      source = "minio"
    }

    network {
      mode = "bridge"
      port "s3" {
        to = 9000
      }
      port "console" {
        to = 9001
      }
    }

    service {
      name     = "minio"
      port     = "s3"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/minio/health/live"
        interval = "10s"
        timeout  = "2s"
      }
    }

    service {
      name     = "minio-console"
      port     = "console"
      provider = "nomad"
    }

    task "minio" {
      driver = "docker"
      config {
        image = "quay.io/minio/minio:RELEASE.2024-06-29T01-20-47Z"
        args  = ["server", "/data", "--console-address", ":${NOMAD_PORT_console}"]
        ports = ["s3", "console"]
      }
      volume_mount {
        volume      = "data"
        destination = "/data"
      }
      secret "root" {
        provider = "nomad"
        path     = "nomad/jobs/minio"
      }
      env {
        MINIO_ROOT_USER     = "${secret.root.user}"
        MINIO_ROOT_PASSWORD = "${secret.root.password}"
      }
    }
  }
}
