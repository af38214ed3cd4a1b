# A directory of a node, in which a job keeps its data: reeve volume create volume.hcl
name      = "data"
type      = "host"
plugin_id = "mkdir"

# The node needs this much free disk. The plugin "mkdir" does not limit the volume to it.
capacity_min = "1GiB"

# How groups may use it: many tasks of one node read and write.
capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

parameters {
  mode = "0755"
  uid  = "65534"
  gid  = "65534"
}
