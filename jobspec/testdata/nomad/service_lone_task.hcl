# A task directly in the job: its group has the same name.
# accept: yes

job "echo" {
  datacenters = ["*"]

  task "echo" {
    driver = "raw_exec"
    config {
      command = "/usr/bin/socat"
      args    = ["TCP-LISTEN:7007,fork", "EXEC:/bin/cat"]
    }
  }
}
