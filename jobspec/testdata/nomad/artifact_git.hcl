# A repository at a tag, by SSH.
# accept: yes
# ends: fails: fetch git.example.com:shop/config.git: git: ssh

job "artifact-git" {
  datacenters = ["dc1"]

  group "artifact" {
    task "git" {
      driver = "exec"

      config {
        command = "local/api"
      }
      artifact {
        source      = "git::git@git.example.com:shop/config.git"
        destination = "local/config"
        options {
          ref    = "v1.4.0"
          depth  = 1
          sshkey = "${base64encode("placeholder")}"
        }
      }
    }
  }
}
