# Locals that build on each other, and functions of every family.
locals {
  name    = lower("SHOP-${local.stage}")
  stage   = "Prod"
  tags    = sort(distinct(concat(["b", "a"], ["a", format("v%03d", 7)])))
  hosts   = [for i in range(3) : cidrhost("10.20.0.0/16", i + 10)]
  owners  = { for k, v in { web = "ann", db = "ben" } : upper(k) => title(v) }
  numbers = jsondecode("[1, 2, 3]")
  config  = yamldecode("workers: 4\ncolors: [red, green]\n")
}

job "functions" {
  name = local.name

  meta {
    tags     = join(",", local.tags)
    hosts    = join(" ", local.hosts)
    owner    = lookup(local.owners, "WEB", "nobody")
    missing  = lookup(local.owners, "MAIL", "nobody")
    sum      = sum(local.numbers)
    biggest  = max(local.numbers...)
    digest   = substr(sha256("reeve"), 0, 12)
    md5      = md5("reeve")
    encoded  = base64encode("reeve")
    decoded  = base64decode("cmVldmU=")
    subnet   = cidrsubnet("10.0.0.0/8", 8, 2)
    subnets  = join(" ", cidrsubnets("10.1.0.0/16", 4, 4, 8))
    netmask  = cidrnetmask("172.16.0.0/12")
    date     = formatdate("YYYY-MM-DD", "2026-01-31T12:00:00Z")
    later    = timeadd("2026-01-31T12:00:00Z", "36h")
    fallback = try(local.owners.MAIL, "postmaster")
    can      = can(regex("^[a-z]+$", "Reeve"))
    version  = regex("([0-9]+)\\.([0-9]+)", "v1.27")[1]
    swapped  = regex_replace("a-b", "(\\w)-(\\w)", "$2-$1")
    id       = uuidv5("dns", "reeve.run")
    url      = urlencode("a b&c")
    colors   = join("/", local.config.colors)
    json     = jsonencode({ workers = local.config.workers, on = true })
    yaml     = trimspace(yamlencode({ a = 1 }))
    flat     = join("", flatten([["a"], ["b", ["c"]]]))
    parsed   = parseint("ff", 16)
    all      = alltrue([true, local.stage == "Prod"])
    base     = basename("/srv/app/run.sh")
    ends     = endswith("reeve.hcl", ".hcl")
    zipped   = jsonencode(zipmap(["x", "y"], [1, 2]))
  }

  task "app" {
    driver = "raw_exec"
    config {
      command = "/bin/echo"
      args    = concat(["--"], [for t in local.tags : "tag=${t}" if t != "b"])
    }
  }
}
