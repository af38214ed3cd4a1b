# More functions for text and collections.
# accept: yes

locals {
  zones = ["a", "b", "c"]
}

job "functions" {
  meta {
    replaced = replace("a.b.c", ".", "-")
    title    = title("the shop")
    cut      = substr("abcdef", 1, 3)
    found    = regex("[0-9]+", "port 8080")
    spaces   = indent(2, chomp("a\nb\n"))
    length   = length(local.zones)
    last     = element(local.zones, length(local.zones) - 1)
    unique   = join(",", distinct(concat(local.zones, ["a"])))
    pairs    = jsonencode(zipmap(local.zones, range(3)))
    chunks   = jsonencode(chunklist(local.zones, 2))
    when     = formatdate("YYYY-MM-DD", "2026-01-02T03:04:05Z")
    later    = timeadd("2026-01-02T03:04:05Z", "24h")
    subnet   = cidrsubnet("10.0.0.0/8", 8, 2)
    yaml     = yamldecode("port: 8080").port
    tried    = try(local.zones[7], "none")
    number   = parseint("ff", 16)
  }
  group "functions" {
    task "functions" {
      driver = "exec"
      config {
        command = "/usr/bin/env"
      }
    }
  }
}
