job "web" {
  meta {
    a = uper("x")
    b = toupper("x")
    c = frobnicate()
  }
}
