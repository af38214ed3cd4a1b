# The smallest service: one group, one task, no network.
# accept: yes

job "ticker" {
  group "ticker" {
    task "ticker" {
      driver = "raw_exec"
      config {
        command = "/usr/local/bin/ticker"
      }
    }
  }
}
