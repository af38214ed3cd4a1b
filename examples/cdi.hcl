# A device of the Container Device Interface, as the tools of vendors describe
# them. The specification gives its holder device nodes, a directory and a
# variable:
#
#     cp examples/cdi/acme.json /etc/cdi/
#     reeve agent -dev
#     reeve job run examples/cdi.hcl
#     reeve alloc logs -job listen
job "listen" {
  group "listen" {
    count = 2

    task "ear" {
      driver = "exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "ls /dev/acme; echo level $ACME_LEVEL; head -c 4 /dev/acme/* | wc -c; ls -d /opt/acme/zones/Europe; exec sleep 3600"]
      }

      resources {
        memory = 64

        device "acme.example/noise" {}
      }
    }
  }
}
