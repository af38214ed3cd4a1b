# The configuration of a container for a driver that runs programs.
# accept: refused
# error: the driver "exec" has no config key "image"; it takes "args", "cap_add", "cap_drop", "command", "ipc_mode", "pid_mode", "ulimit", "unveil" and "work_dir"
# error: the driver "exec" has no config key "ports"; it takes "args", "cap_add", "cap_drop", "command", "ipc_mode", "pid_mode", "ulimit", "unveil" and "work_dir"

job "web" {
  group "web" {
    task "web" {
      driver = "exec"
      config {
        image = "nginx:1.27"
        ports = ["http"]
      }
    }
  }
}
