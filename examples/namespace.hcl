# A namespace for a team, with a rule about its jobs. Create it, and then a sandbox below
# it in which jobs have the same names:
#
#   reeve namespace apply examples/namespace.hcl
#   reeve namespace apply dev/sandbox
#   reeve job run -namespace dev examples/web.hcl
#   reeve job run -namespace dev/sandbox examples/web.hcl
#
# docs/namespaces.md explains the rest.

name        = "dev"
description = "for developers"

meta {
  team = "web"
}

# Checked when a job is registered.
capabilities {
  enabled_task_drivers = ["raw_exec", "exec"]
}

# Checked at the same time. web.hcl names no priority, and so has 50.
priorities {
  max = 60
}
