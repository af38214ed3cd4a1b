job "web" {
  all_at_once = "yes"
  update {
    auto_revert = 1
  }
}
