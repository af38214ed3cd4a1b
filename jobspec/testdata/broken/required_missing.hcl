job "web" {
  group "app" {
    task "a" {
      lifecycle {
        sidecar = true
      }
      action "x" {}
    }
  }
}
