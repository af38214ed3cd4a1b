job "web" {
  datacenters {
    name = "dc1"
  }
  group "app" {
    count {
    }
  }
}
