# A raw_exec task that names its cgroup.
# accept: refused
# error: the driver "raw_exec" has no config key "cgroup_v2_override"; it takes "args", "command", "oom_score_adj" and "work_dir"

job "raw-exec-cgroup" {
  datacenters = ["dc1"]

  group "raw" {
    task "cgroup" {
      driver = "raw_exec"

      config {
        command            = "/usr/local/bin/api"
        cgroup_v2_override = "/shop/api"
      }
    }
  }
}
