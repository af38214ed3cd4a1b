job "web" {
  group "app" {
    cuont = 3
  }
}
