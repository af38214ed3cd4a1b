# The rights of a team with its own namespace:
#
#   reeve acl policy apply -description "the web team" web-team examples/acl/team.hcl

# In its namespace, the team may do everything that concerns jobs.
namespace "web" {
  policy = "write"
}

# In all others, it sees the jobs.
namespace "*" {
  capabilities = ["list-jobs", "read-job"]
}

# It sees the machines on which its jobs run.
node {
  policy = "read"
}
