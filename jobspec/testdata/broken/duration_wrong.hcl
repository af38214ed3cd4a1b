job "web" {
  update {
    min_healthy_time = "10 seconds"
    healthy_deadline = "1d"
    progress_deadline = true
  }
}
