job "web" {
  meta {
    huge = 1e999999
  }
  group "app" {
    count = 99999999999999999999
    network {
      port "x" {
        static = "8o80"
      }
    }
  }
}
