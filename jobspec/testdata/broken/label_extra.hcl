job "web" "prod" {
  update "fast" {
    max_parallel = 1
  }
  group "" {
  }
}
