# Named commands that users run in a task.
# accept: yes

job "action" {
  datacenters = ["dc1"]

  group "action" {
    task "action" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      action "flush-cache" {
        command = "/usr/local/bin/api-ctl"
        args    = ["flush"]
      }
      action "dump" {
        command = "/usr/local/bin/api-ctl"
        args    = ["dump", "--all"]
      }
    }
  }
}
