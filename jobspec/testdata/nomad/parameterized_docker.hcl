# A dispatched job in a container whose image the caller chooses.
# accept: yes

job "runner" {
  type = "batch"

  parameterized {
    payload       = "optional"
    meta_required = ["image"]
  }

  group "runner" {
    task "run" {
      driver = "docker"
      config {
        image   = "${NOMAD_META_image}"
        command = "/bin/sh"
        args    = ["/local/script.sh"]
      }
      dispatch_payload {
        file = "script.sh"
      }
    }
  }
}
