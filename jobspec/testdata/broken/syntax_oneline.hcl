job "web" {
  group "app" { count = 1, shutdown_delay = "1s" }
}
