job "web" {
  affinity {
    attribute = "${meta.a}"
    value     = "b"
    weight    = 300
  }
  spread {
    attribute = "${meta.a}"
    target "x" {
      percent = -5
    }
  }
}
