node_pool "gpu" {
  description = "Nodes with graphics cards"

  meta {
    team = "machine-learning"
  }

  # What the pool does otherwise than the cluster.
  scheduler_config {
    # "binpack" fills nodes, so that others stay free for what is large;
    # "spread" uses them evenly.
    scheduler_algorithm = "spread"

    # Tasks may use up to their memory_max.
    memory_oversubscription_enabled = false
  }
}
