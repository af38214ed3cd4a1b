job "web" {
  group "app" {
    count = 1.5
  }
}
