job "hello-world" {
  update {
    max_parallel = "25%"
  }

  plan "deploy" {
    phase "hello" {
      strategy = "serial-canary"
      step {
        index = 0
        tasks = ["init"]
      }
      step {
        index = 0
        tasks = ["server", "sidecar"]
      }
      step {
        tasks = ["server", "sidecar"]
      }
    }
    phase "world" {
      strategy     = "serial"
      max_parallel = 2
      stagger      = "10s"
    }
  }

  plan "update" {
    strategy = "dependency"
    phase "second" {
      group    = "world"
      strategy = "parallel"
      after    = ["first"]
    }
    phase "first" {
      group    = "hello"
      strategy = "dependency"
      step {
        name  = "server"
        tasks = ["server"]
      }
      step {
        tasks = ["sidecar"]
        after = ["server"]
      }
    }
  }

  plan "backup" {
    strategy = "parallel"
    phase "save" {
      group        = "world"
      max_parallel = "50%"
      step {
        tasks = ["backup"]
      }
    }
  }

  group "hello" {
    count = 2
    recovery {
      permanent_after = "20m"
    }
    task "init" {
      driver = "raw_exec"
      goal   = "once"
      config {
        command = "/bin/true"
      }
    }
    task "server" {
      driver    = "raw_exec"
      goal      = "running"
      essential = true
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
    }
    task "sidecar" {
      driver    = "raw_exec"
      essential = false
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
    }
  }

  group "world" {
    count = 4
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
    }
    task "backup" {
      driver = "raw_exec"
      goal   = "finish"
      config {
        command = "/bin/true"
      }
    }
  }
}
