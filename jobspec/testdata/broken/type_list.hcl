job "web" {
  datacenters = "dc1"
  group "app" {
    service {
      tags = ["a", ["b"]]
    }
  }
}
