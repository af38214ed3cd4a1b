# A job that has no place: it asks for a terabyte of memory, which no node has.
# It waits until such a node joins, or until it asks for less.
#
#     reeve job explain forecast
#     reeve job run -var memory=64 forecast.hcl
variable "memory" {
  type        = number
  default     = 1048576
  description = "The memory of the model in MB."
}

job "forecast" {
  group "model" {
    update {
      min_healthy_time = "1s"
    }

    task "model" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo the model is loaded; exec sleep 1000000"]
      }

      resources {
        cpu    = 20
        memory = var.memory
      }
    }
  }
}
