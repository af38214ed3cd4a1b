# A job in two regions.
# accept: refused
# needs: multiregion
# error: the multiregion block is not supported: Reeve has one region; remove it, and register the job in each cluster

job "api" {
  multiregion {
    strategy {
      max_parallel = 1
      on_failure   = "fail_all"
    }
    region "west" {
      count       = 2
      datacenters = ["west-1"]
    }
    region "east" {
      count       = 1
      datacenters = ["east-1", "east-2"]
      node_pool   = "default"
      meta {
        url = "east.example.com"
      }
    }
  }
  group "api" {
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
