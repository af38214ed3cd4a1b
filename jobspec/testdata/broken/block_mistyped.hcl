job "web" {
  group "app" {
    networks {
      port "http" {}
    }
    tsak "a" {
      driver = "exec"
    }
  }
}
