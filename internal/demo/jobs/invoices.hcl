# A batch job: three pieces of work, each of which ends after two minutes.
#
#     reeve job status invoices
#     reeve alloc logs -job invoices
job "invoices" {
  type = "batch"

  group "print" {
    count = 3

    task "print" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"

        args = ["-c", <<-EOF
          i=0
          while [ $i -lt 60 ]; do
            i=$((i + 1))
            echo "printed invoice $((NOMAD_ALLOC_INDEX * 1000 + i))"
            sleep 2
          done
        EOF
        ]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
