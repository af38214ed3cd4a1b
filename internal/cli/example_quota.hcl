name        = "web-team"
description = "Limits of the web team"

limit {
  region_limit {
    # What the running instances of all namespaces with this quota may use
    # together. Without a limit, and with 0, there is no bound; -1 allows nothing.
    cpu         = 4000 # MHz
    memory      = 8192 # MB
    memory_max  = 16384
    allocations = 50

    # Further limits for the jobs of one node pool.
    node_pool "gpu" {
      cores  = 8
      memory = 4096
    }
  }
}
