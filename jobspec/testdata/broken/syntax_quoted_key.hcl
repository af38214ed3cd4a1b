job "web" {
  meta {
    "a.b" = "c"
  }
}
