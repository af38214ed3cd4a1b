# Modes for processes and IPC, and capabilities of the exec driver.
# accept: yes

job "exec-isolation" {
  datacenters = ["dc1"]

  group "exec" {
    task "isolation" {
      driver = "exec"

      config {
        command  = "/usr/local/bin/probe"
        pid_mode = "private"
        ipc_mode = "private"
        cap_drop = ["all"]
        cap_add  = ["net_raw"]
      }
    }
  }
}
