# A change of a variable reaches three instances one after another, each when the one before is healthy. Create the
# variable first, and change it while the job runs:
#   reeve var put nomad/jobs/template-rolling greeting=hello
#   reeve var put nomad/jobs/template-rolling greeting=welcome
#   reeve plan show -watch template-rolling restart
job "template-rolling" {
  group "app" {
    count = 3

    update {
      max_parallel     = 1
      min_healthy_time = "2s"
    }

    task "app" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "cat local/greeting; exec sleep 86400"]
      }

      template {
        destination = "local/greeting"
        change_mode = "rolling" # the default of a service with several instances
        data        = "{{with nomadVar \"nomad/jobs/template-rolling\"}}{{.greeting}}{{end}}\n"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
