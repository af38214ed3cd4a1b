job "web" {
  meta {
    a = file("files/nothing.conf")
    b = file("files")
  }
}
