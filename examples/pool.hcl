# A node pool for batch work, that uses its nodes evenly.
#
#     reeve node pool apply examples/pool.hcl
node_pool "batch" {
  description = "Nodes for batch work"

  scheduler_config {
    scheduler_algorithm = "spread"
  }
}
