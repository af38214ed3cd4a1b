# A job that another program dispatches with a file.
# accept: yes

job "thumbnails" {
  type = "batch"

  parameterized {
    payload       = "required"
    meta_required = ["bucket"]
    meta_optional = ["size"]
  }

  meta {
    size = "200x200"
  }

  group "resize" {
    task "resize" {
      driver = "docker"
      config {
        image   = "ghcr.io/example/resize:2.3"
        command = "resize"
        args    = ["--bucket", "${NOMAD_META_bucket}", "--size", "${NOMAD_META_size}", "/local/image.json"]
      }
      dispatch_payload {
        file = "image.json"
      }
      resources {
        cpu    = 200
        memory = 128
      }
    }
  }
}
