job "web" {
  count = 3
  group "app" {
    driver = "exec"
    change_mode = "restart"
  }
}
