# A job that cannot be placed on most machines: it asks for a node with a GPU.
# The command says why, and exits 2. The job waits until a node that helps
# appears, or until it is stopped.
#
#     reeve job run examples/blocked.hcl
#     reeve eval list -job blocked
#     reeve job stop blocked
job "blocked" {
  group "train" {
    constraint {
      attribute = "${meta.gpu}"
      value     = "yes"
    }

    task "model" {
      driver = "raw_exec"

      config {
        command = "/bin/sleep"
        args    = ["3600"]
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
