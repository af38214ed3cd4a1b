# One job over several regions: read, to be refused by name.
job "everywhere" {
  multiregion {
    strategy {
      max_parallel = 1
      on_failure   = "fail_all"
    }

    region "west" {
      count       = 2
      datacenters = ["west-1"]
      meta {
        side = "left"
      }
    }

    region "east" {
      count       = 1
      datacenters = ["east-1", "east-2"]
      node_pool   = "east"
    }
  }

  task "app" {
    driver = "docker"
    config {
      image = "app:1"
    }
  }
}
