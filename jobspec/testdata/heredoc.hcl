# Long texts: indented, not indented, with and without interpolation.
variable "greeting" {
  default = "hello"
}

job "texts" {
  task "say" {
    driver = "raw_exec"

    config {
      command = "/bin/bash"
      args = ["-c", <<-SCRIPT
        set -eu
        %{if var.greeting != ""~}
        echo "${var.greeting}, $${USER}"
        %{endif~}
        %{for i in range(2)~}
        echo "line ${i}"
        %{endfor~}
        exec sleep $((60 * 5))
      SCRIPT
      ]
    }

    env {
      MOTD      = <<EOT
  two spaces stay
100%% "quoted"
EOT
      PATH_LIKE = "${env["PATH"]}:/opt/bin"
      SHELLISH  = "$HOME/.config $${NOT_HCL}"
    }
  }
}
