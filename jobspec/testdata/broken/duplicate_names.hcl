job "web" {
  group "app" {
    network {
      port "http" {}
      port "http" {
        static = 80
      }
    }
    task "a" {
      driver = "docker"
    }
    task "a" {
      driver = "docker"
    }
    volume "v" {}
    volume "v" {}
  }
  group "app" {
  }
}
