# Three pieces of work that run to completion. Each instance knows which piece
# is its own from NOMAD_ALLOC_INDEX.
#
#     reeve job run examples/batch.hcl
#     reeve alloc logs -job batch
job "batch" {
  type = "batch"

  group "sum" {
    count = 3

    # A piece that fails is tried again in place, then on another node.
    restart {
      attempts = 2
      interval = "5m"
      delay    = "1s"
      mode     = "fail"
    }

    reschedule {
      attempts = 1
      interval = "1h"
      delay    = "5s"
    }

    task "add" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"

        args = ["-c", <<-EOF
          i=0
          sum=0
          while [ $i -lt 1000 ]; do
            i=$((i + 1))
            sum=$((sum + i * (NOMAD_ALLOC_INDEX + 1)))
          done
          echo "piece $NOMAD_ALLOC_INDEX: $sum"
        EOF
        ]
      }

      resources {
        cpu    = 100
        memory = 32
      }
    }
  }
}
