# Files fetched before the task starts.
job "fetched" {
  group "app" {
    task "app" {
      driver = "exec"

      artifact {
        source      = "https://releases.internal/app/${NOMAD_META_version}/app-linux-${attr.cpu.arch}.tar.gz"
        destination = "local/app"

        options {
          checksum = "sha256:4b2d2f8e"
          archive  = true
        }

        headers {
          Authorization = "Bearer ${NOMAD_TOKEN}"
        }
      }

      artifact {
        source      = "git::https://git.internal/configs.git//prod?ref=v3"
        mode        = "dir"
        insecure    = false
        destination = "local/config"
        chown       = true
      }

      meta {
        version = "1.4.2"
      }

      config {
        command = "local/app/app"
        args    = ["-config", "local/config"]
      }
    }
  }
}
