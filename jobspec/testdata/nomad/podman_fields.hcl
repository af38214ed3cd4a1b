# Most fields of the driver podman.
# accept: yes
# ends: fails: would change the whole node

job "podman-fields" {
  datacenters = ["dc1"]

  group "cache" {
    network {
      mode = "bridge"
      port "redis" {
        to = 6379
      }
    }

    task "redis" {
      driver = "podman"
      user   = "redis"

      config {
        image              = "docker://docker.io/library/redis:7"
        entrypoint         = "/entrypoint.sh"
        command            = "redis-server"
        args               = ["--port", "6379"]
        working_dir        = "/data"
        volumes            = ["local/redis.conf:/etc/redis.conf:ro"]
        tmpfs              = ["/run", "/var/cache:size=64m"]
        cap_add            = ["NET_BIND_SERVICE"]
        cap_drop           = ["MKNOD"]
        devices            = ["/dev/fuse"]
        hostname           = "cache"
        extra_hosts        = ["db:10.0.0.5"]
        force_pull         = true
        image_pull_timeout = "5m"
        init               = true
        labels = {
          "team" = "shop"
        }
        logging = {
          driver = "nomad"
        }
        memory_reservation = "100m"
        pids_limit         = 100
        readonly_rootfs    = true
        shm_size           = "64m"
        sysctl = {
          "net.core.somaxconn" = "1024"
        }
        ulimit {
          nofile = "2048:4096"
        }
        auth {
          username   = "reader"
          password   = "secret"
          tls_verify = true
        }
      }
    }
  }
}
