# Resolver, hostname and more lines in /etc/hosts.
# accept: yes

job "docker-dns-hosts" {
  datacenters = ["dc1"]

  group "docker" {
    task "hosts" {
      driver = "docker"

      config {
        image              = "registry.example.com/shop/web:1.4.2"
        hostname           = "web-${NOMAD_ALLOC_INDEX}"
        extra_hosts        = ["db.internal:10.0.0.12"]
        dns_servers        = ["10.0.0.2"]
        dns_search_domains = ["shop.internal"]
        dns_options        = ["ndots:2"]
      }
    }
  }
}
