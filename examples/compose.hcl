# How tasks stand to one another: order, fate, and time. See docs/tasks.md.
#
#     reeve job run examples/compose.hcl
#     reeve alloc status ID      # one of the allocations that it shows
job "compose" {
  update {
    min_healthy_time = "1s"
  }

  # One after another: what is converted is served. Whether it is tidy does not
  # count, and converting may take two seconds: the first attempt takes longer.
  group "pipeline" {
    ephemeral_disk {
      size = 500
    }

    restart {
      attempts = 1
      delay    = "1s"
    }

    task "fetch" {
      driver = "raw_exec"
      goal   = "finish"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo data > ${NOMAD_ALLOC_DIR}/data/raw"]
      }
    }

    task "tidy" {
      driver    = "raw_exec"
      goal      = "finish"
      essential = false
      after     = ["fetch"]
      config {
        command = "/bin/sh"
        args    = ["-c", "exit 1"]
      }
    }

    task "convert" {
      driver  = "raw_exec"
      goal    = "finish"
      after   = ["fetch", "tidy"]
      timeout = "2s"
      config {
        command = "/bin/sh"
        args    = ["-c", "cd ${NOMAD_ALLOC_DIR}/data; mkdir tried && exec sleep 60; tr a-z A-Z < raw > page"]
      }
    }

    task "serve" {
      driver = "raw_exec"
      after  = ["convert"]
      config {
        command = "/bin/sh"
        args    = ["-c", "cat ${NOMAD_ALLOC_DIR}/data/page; exec sleep 1000"]
      }
    }
  }

  # Neither is of use without the other: the first time, the server ends, with 0.
  group "pair" {
    fate = "codependent"

    restart {
      attempts = 2
      delay    = "1s"
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "mkdir local/ended && exec sleep 1; exec sleep 1000"]
      }
    }

    task "cache" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
    }
  }

  # The end of one is nothing to the other.
  group "apart" {
    fate = "independent"

    restart {
      attempts = 0
    }

    task "lamb" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "sleep 4; exit 17"]
      }
    }

    task "ox" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
    }
  }
}
