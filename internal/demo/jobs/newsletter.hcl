# A crash loop: the task ends because a setting is missing, and says so. Reeve
# starts it again, after delays that grow to a minute.
#
#     reeve job status newsletter
#     reeve job run -var mail_url=http://mail.localhost newsletter.hcl
variable "mail_url" {
  type        = string
  default     = ""
  description = "The address of mail, such as http://mail.localhost. Without it, the task ends with an error."
}

variable "router" {
  type        = string
  default     = "127.0.0.1:8080"
  description = "The address of the node's router, through which the services call each other."
}

job "newsletter" {
  group "sender" {
    network {
      port "http" {}
    }

    restart {
      attempts       = 199
      immediate      = 2
      delay          = "5s"
      delay_function = "exponential"
      max_delay      = "1m"
      reset_after    = "5m"
      mode           = "fail"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "newsletter"]
      }

      env {
        VERSION    = "0.4.0"
        MAIL_URL   = var.mail_url
        http_proxy = "http://${var.router}"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
