# A job that runs when somebody dispatches it.
job "transcode" {
  type = "batch"

  parameterized {
    payload       = "required"
    meta_required = ["input"]
    meta_optional = ["profile", "priority"]
  }

  meta {
    profile = "h264"
  }

  group "transcode" {
    task "ffmpeg" {
      driver = "exec"

      dispatch_payload {
        file = "settings.json"
      }

      config {
        command = "/usr/bin/transcode"
        args    = ["--settings", "local/settings.json", "--profile", "${NOMAD_META_profile}", "${NOMAD_META_INPUT}"]
      }

      resources {
        cores  = 2
        memory = 1024
      }
    }
  }
}
