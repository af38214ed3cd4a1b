# The lead of the web team does everything in the team's namespace, and gives parts of these rights
# to others: policies whose names begin with "web.", tokens with them, and namespaces below.
namespace "web" {
  policy       = "write"
  capabilities = ["delegate"]

  variables {
    path "*" {
      capabilities = ["read", "write", "destroy"]
    }
  }
}

# The same rights in the namespaces below. The capability delegate holds there already.
namespace "web/*" {
  policy = "write"

  variables {
    path "*" {
      capabilities = ["read", "write", "destroy"]
    }
  }
}
