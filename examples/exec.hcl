# An isolated task: processes, mounts and file system of its own, and limits
# that the kernel holds it to. It needs an agent that runs as root.
#
#     reeve job run examples/exec.hcl
#     reeve alloc logs -job exec
job "exec" {
  type = "batch"

  group "look" {
    task "around" {
      driver = "exec"

      config {
        command = "/bin/sh"

        args = ["-c", <<-EOF
          echo "I am process $$, and the root has:" /*
          echo "my directories: $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR $NOMAD_SECRETS_DIR"
        EOF
        ]
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
