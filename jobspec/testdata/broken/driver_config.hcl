job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        comand  = "/bin/true"
        args    = "one two"
        image   = "nginx"
        mount {
          type = "bind"
        }
      }
    }
  }
}
