job "web" {
  dynamic "group" {
    for_each = ["a", "b"]
    labels   = [group.value]
    content {
      cuont = group.key
      task "x" {
        driver = "docker"
        env {
          A = grup.value
          B = group.valeu
        }
      }
    }
  }
}
