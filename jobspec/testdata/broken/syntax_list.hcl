job "web" {
  datacenters = ["dc1" "dc2"]
}
