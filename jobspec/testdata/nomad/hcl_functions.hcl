# Functions for text, lists, numbers, encoding and networks.
# accept: yes

job "functions" {
  meta {
    upper   = upper("shop")
    trimmed = trimspace("  x  ")
    joined  = join("-", sort(["b", "a"]))
    host    = cidrhost("10.20.0.0/16", 5)
    digest  = sha256("content")
    json    = jsonencode({ level = "info", ports = [1, 2] })
    pick    = lookup({ a = "1" }, "b", "none")
    first   = coalesce("", "fallback")
    rounded = format("%.2f", max(1.25, 0.5))
    merged  = jsonencode(merge({ a = 1 }, { b = 2 }))
    id      = uuidv5("dns", "shop.example.com")
  }
  group "functions" {
    task "functions" {
      driver = "exec"
      config {
        command = "/usr/bin/env"
      }
      env {
        SETTINGS = base64encode(jsonencode({ debug = false }))
        HOSTS    = join(",", formatlist("%s.internal", ["db", "cache"]))
      }
    }
  }
}
