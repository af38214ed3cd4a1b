# What draining a node does with different kinds of work. With two nodes, as
#
#     reeve agent -dev -data-dir /tmp/a -node a
#     reeve agent -client -servers http://127.0.0.1:4646 -data-dir /tmp/b -node b -http-addr 127.0.0.1:4647
#
# run this, then empty one of them and watch what moves when:
#
#     reeve job run examples/drain.hcl
#     reeve node drain -enable -deadline 30s -m "new kernel" a
job "drain" {
  type = "service"

  group "web" {
    count = 4

    # While a node is drained, at most one of the four instances is away: the
    # next one moves when the replacement of the one before is healthy.
    migrate {
      max_parallel     = 1
      health_check     = "checks"
      min_healthy_time = "2s"
      healthy_deadline = "1m"
    }

    update {
      max_parallel     = 4
      min_healthy_time = "1s"
    }

    network {
      port "http" {}
    }

    service {
      name     = "drained-web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "tcp"
        port     = "http"
        interval = "1s"
        timeout  = "1s"
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      resources {
        cpu    = 20
        memory = 32
      }
    }
  }
}
