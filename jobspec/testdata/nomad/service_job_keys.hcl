# The arguments of a job, and metadata at all three levels.
# accept: yes

job "billing" {
  region      = "global"
  namespace   = "default"
  datacenters = ["dc1", "eu-*"]
  node_pool   = "default"
  type        = "service"
  priority    = 70
  all_at_once = true

  meta {
    owner    = "payments"
    revision = 3
  }

  group "billing" {
    count = 2
    meta {
      tier = "backend"
    }

    task "billing" {
      driver = "exec"
      user   = "nobody"
      config {
        command = "/usr/local/bin/billing"
        args    = ["-listen", "${NOMAD_ADDR_http}", "-owner", "${NOMAD_META_owner}"]
      }
      meta {
        component = "ledger"
      }
    }
    network {
      port "http" {}
    }
  }
}
