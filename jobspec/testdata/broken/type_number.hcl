job "web" {
  priority = "high"
  group "app" {
    count = "two"
  }
}
