# A job with commands that users run in its task. Run it with
#
#     reeve dev examples/action.hcl
#
# and in another terminal list the actions, and run one:
#
#     reeve job action -job notes
#     reeve job action -job notes add
#     reeve job action -job notes show
job "notes" {
  group "app" {
    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo 'first note' > local/notes; exec sleep 86400"]
      }

      action "show" {
        command = "/bin/cat"
        args    = ["${NOMAD_TASK_DIR}/notes"]
      }

      action "add" {
        command = "/bin/sh"
        args    = ["-c", "date >> local/notes"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
