job "web" {
  constraint {
    attribute = "${attr.cpu.arch}"
    operator  = "contains"
    value     = "amd64"
  }
  constraint {
    atribute = "${attr.cpu.arch}"
    regex    = "amd.*"
  }
}
