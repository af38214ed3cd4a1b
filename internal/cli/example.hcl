# A job says what should run. Its name is its id: registering a file with the
# same name changes the job that runs.
job "example" {
  # "service" runs until it is stopped; "batch" runs to completion. A service is
  # the default.
  type = "service"

  # A group is a set of tasks that run together on one node. Count instances of
  # it are placed, each on its own.
  group "web" {
    count = 2

    # A dynamic port: the node picks a free number. The task finds it in its
    # environment as NOMAD_PORT_http, and in its job file as
    # ${NOMAD_PORT_http}.
    network {
      port "http" {}
    }

    # A service gives the group a name, and checks that say whether an instance
    # is well. An update waits for them.
    service {
      name     = "example-web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    # How instances move to a new version: one at a time, and each has to be
    # healthy for two seconds before the next one follows.
    update {
      max_parallel     = 1
      min_healthy_time = "2s"
      healthy_deadline = "1m"
    }

    # A task that ends is started again in place: up to twice within a minute,
    # then the allocation has failed and is replaced by a new one.
    restart {
      attempts = 2
      interval = "1m"
      delay    = "1s"
      mode     = "fail"
    }

    # A task is one process.
    task "server" {
      # "raw_exec" runs a program of the node as it is; "exec" isolates it.
      driver = "raw_exec"

      # This binary has a tiny web server for examples, so that this file needs
      # nothing else. Put your own program here.
      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      env {
        VERSION = "1"
      }

      # What is set aside for the task: MHz and MB.
      resources {
        cpu    = 100
        memory = 64
      }

      # The task is asked to end with this signal, and is ended by force when it
      # still runs after the timeout.
      kill_signal  = "SIGTERM"
      kill_timeout = "5s"
    }
  }
}
