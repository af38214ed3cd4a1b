# A job that is dispatched with a file of input.
# accept: yes

job "parameterized-payload" {
  datacenters = ["dc1"]
  type        = "batch"

  parameterized {
    payload       = "required"
    meta_required = ["profile"]
    meta_optional = ["bitrate", "priority"]
  }

  group "parameterized" {
    task "payload" {
      driver = "exec"

      config {
        command = "/usr/local/bin/transcode"
        args    = ["local/order.json"]
      }
      dispatch_payload {
        file = "order.json"
      }
    }
  }
}
