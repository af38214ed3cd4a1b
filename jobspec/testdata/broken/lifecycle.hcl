job "nightly" {
  type = "batch"

  group "work" {
    fate = "codependent"

    task "fetch" {
      driver  = "raw_exec"
      after   = ["convert"]
      timeout = "0s"
      config {
        command = "/bin/true"
      }
    }

    task "convert" {
      driver = "raw_exec"
      after  = ["fetch", "fetch", "convert", "upload", "init"]
      daemon = true
      config {
        command = "/bin/true"
      }
    }

    task "init" {
      driver = "raw_exec"
      after  = ["fetch"]
      lifecycle {
        hook = "prestart"
      }
      config {
        command = "/bin/true"
      }
    }

    task "agent" {
      driver = "raw_exec"
      goal   = "running"
      daemon = true
      config {
        command = "/bin/true"
      }
    }
  }

  group "beside" {
    fate = "shraed"

    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
    }
  }
}
