job "web" {
  meta {
    a = upper()
    b = upper("a", "b")
    c = upper(["a"])
    d = jsondecode("{")
    e = cidrhost("10.0.0.0/30", 9)
    f = parseint("zz", 10)
    g = element([], 0)
    h = regex("(", "a")
    i = yamldecode("a: [")
  }
}
