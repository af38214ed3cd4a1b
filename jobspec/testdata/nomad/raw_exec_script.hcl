# A script in a heredoc that a shell runs.
# accept: yes

job "raw-exec-script" {
  datacenters = ["dc1"]

  group "raw" {
    task "script" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args = ["-ec", <<-EOT
 while true; do
 date --iso-8601=seconds
 sleep 60
 done
EOT
        ]
      }
    }
  }
}
