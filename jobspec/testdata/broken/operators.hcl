job "web" {
  meta {
    a = 1 + "x"
    b = true ? "a" : ["b"]
    c = {}.name
    d = [1, 2][5]
    e = !"maybe"
    f = 1 / 0
  }
}
