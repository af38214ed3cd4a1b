job "web" {
  datacentres = ["dc1"]
  prioritty   = 50
}
