job "web" {
  group "app" {
    task "server" {
      driver = "mock"
      config {
        run_fro   = "10s"
        exit_code = "zero"
        kill_after = "soon"
      }
    }
  }
}
