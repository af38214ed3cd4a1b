job "web" {
  type = service
  datacenters = [dc1]
}
