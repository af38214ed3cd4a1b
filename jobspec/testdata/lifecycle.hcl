job "composed" {
  group "work" {
    fate = "independent"

    task "fetch" {
      driver  = "raw_exec"
      goal    = "finish"
      timeout = "90s"
      config {
        command = "/bin/true"
      }
    }

    task "serve" {
      driver = "raw_exec"
      after  = ["fetch"]
      daemon = true
      monitor {
        command = "/bin/true"
      }
      config {
        command = "/bin/true"
      }
    }
  }
}
