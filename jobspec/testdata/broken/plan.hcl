job "web" {
  group "web" {
    count = 2
    task "init" {
      driver = "raw_exec"
      goal   = "once"
      config {
        command = "/bin/true"
      }
    }
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/cat"
      }
    }
  }

  plan "deploy" {
    phase "web" {
      step {
        index = 2
        tasks = ["init"]
      }
      step {
        index = 0
        tasks = ["sever"]
      }
    }
    phase "api" {
      strategy     = "parallel"
      max_parallel = "0%"
    }
  }

  plan "backup" {
    strategy = "dependency"
    phase "one" {
      group = "web"
      after = ["two"]
    }
    phase "two" {
      group    = "web"
      after    = ["one"]
      strategy = "dependency"
      step {
        name  = "a"
        tasks = ["init"]
        after = ["b"]
      }
      step {
        name  = "b"
        tasks = ["server"]
        after = ["a"]
      }
    }
  }

  plan "restart" {
    phase "web" {
      after = ["none"]
    }
  }

  plan "sweep" {}

  plan "clean" {
    phase "db" {
    }
    phase "web" {
      step {
        index = 0
        tasks = ["init"]
        after = ["server"]
      }
    }
  }
}
