# A quota for a team, and how it limits the team's namespace and all below it:
#
#   reeve quota apply examples/quota.hcl
#   reeve namespace apply -quota web-team web
#   reeve quota status web-team
#
# docs/namespaces.md explains the rest.

name        = "web-team"
description = "for the web team"

limit {
  region_limit {
    cpu         = 4000 # MHz
    memory      = 512  # MB
    allocations = 20

    # For the jobs of one node pool, in addition.
    node_pool "gpu" {
      cores  = 4
      memory = -1 # nothing; 0 is unlimited
    }
  }
}
