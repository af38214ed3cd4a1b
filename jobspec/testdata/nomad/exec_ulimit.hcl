# Limits of the processes of an exec task.
# accept: yes

job "exec-ulimit" {
  datacenters = ["dc1"]

  group "exec" {
    task "ulimit" {
      driver = "exec"

      config {
        command = "/usr/local/bin/queue"
        ulimit = {
          nofile = "4096:8192"
        }
        work_dir = "/local"
      }
    }
  }
}
