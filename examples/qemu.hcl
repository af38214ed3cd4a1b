# A virtual machine with the isolation of driver exec. The node needs QEMU (Debian's
# qemu-system-x86). Real disks come with an artifact block, or on a volume; this
# one is written by the first task: a boot sector that says that it runs, waits for
# the power button, and powers the machine off.
#
#     reeve job run examples/qemu.hcl
#     reeve alloc logs -job vm machine
#     reeve job stop vm
#     reeve alloc logs -job vm machine
job "vm" {
  group "vm" {
    network {
      port "ssh" {}
    }

    task "disk" {
      driver = "exec"

      lifecycle {
        hook = "prestart"
      }

      config {
        command = "/bin/sh"
        args    = ["/local/disk.sh"]
      }

      template {
        destination = "local/disk.sh"

        data = <<-EOF
          disk=/alloc/vm.img
          head -c 1048576 /dev/zero > $disk
          printf %b \
            '\061\300\216\330\374\276\073\174\272\370\003\254\204\300\164\003' \
            '\356\353\370\272\002\006\270\000\001\357\272\000\006\355\251\000' \
            '\001\164\367\272\370\003\276\117\174\254\204\300\164\003\356\353' \
            '\370\272\004\006\270\000\040\357\364\353\375\124\150\145\040\155' \
            '\141\143\150\151\156\145\040\162\165\156\163\056\015\012\000\124' \
            '\150\145\040\155\141\143\150\151\156\145\040\160\157\167\145\162' \
            '\163\040\157\146\146\056\015\012' \
            | dd of=$disk conv=notrunc status=none
          printf '\125\252' | dd of=$disk bs=1 seek=510 conv=notrunc status=none
        EOF
      }

      resources {
        memory = 32
      }
    }

    task "machine" {
      driver = "qemu"

      config {
        image_path        = "/alloc/vm.img"
        graceful_shutdown = true

        port_map {
          ssh = 22
        }
      }

      kill_timeout = "20s"

      resources {
        cpu    = 500
        memory = 64
      }
    }
  }
}
