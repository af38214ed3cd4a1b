# An object from a bucket, with credentials.
# accept: yes

job "artifact-s3" {
  datacenters = ["dc1"]

  group "artifact" {
    task "s3" {
      driver = "exec"

      config {
        command = "local/api"
      }
      artifact {
        source = "s3::https://s3.eu-central-1.amazonaws.com/shop-releases/api.tgz"
        options {
          aws_access_key_id     = "placeholder"
          aws_access_key_secret = "placeholder"
          region                = "eu-central-1"
        }
      }
    }
  }
}
