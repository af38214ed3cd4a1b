job "web" {
  type = "service
  group "app" {
  }
}
