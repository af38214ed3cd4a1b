# Health by the states of the tasks, with defaults of the job.
# accept: yes
# warns: group "update": update max_parallel 2 is more than its count 1

job "update-task-states" {
  datacenters = ["dc1"]
  update {
    health_check      = "task_states"
    min_healthy_time  = "5s"
    healthy_deadline  = "1m"
    progress_deadline = "3m"
  }

  group "update" {
    update {
      max_parallel = 2
    }

    task "states" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
