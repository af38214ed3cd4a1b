# Text that comes from files beside the job.
job "files" {
  task "app" {
    driver = "raw_exec"

    config {
      command = "/bin/cat"
      args    = [for f in sort(tolist(fileset("files", "**/*.conf"))) : "local/${f}"]
    }

    template {
      destination = "local/app.conf"
      data        = file("files/app.conf")
    }

    env {
      ENCODED = filebase64("files/app.conf")
      PRESENT = fileexists("files/app.conf")
      ABSENT  = fileexists("files/none.conf")
    }
  }
}
