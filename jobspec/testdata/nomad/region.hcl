# A job of another region.
# accept: refused
# needs: region
# error: region "eu" is not supported: Reeve has one region; remove it, or set region = "global"

job "api" {
  region      = "eu"
  datacenters = ["eu-1"]
  group "api" {
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
