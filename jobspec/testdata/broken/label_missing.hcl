job {
  group {
    task {
      driver = "exec"
    }
  }
}
