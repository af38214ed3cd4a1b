# A parameterized job: each dispatch starts it with other arguments.
#
#     reeve job dispatch -meta order=4711 refund
#     reeve job status refund
job "refund" {
  type = "batch"

  parameterized {
    meta_required = ["order"]
  }

  group "refund" {
    task "pay" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"refunded order $NOMAD_META_order\""]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
