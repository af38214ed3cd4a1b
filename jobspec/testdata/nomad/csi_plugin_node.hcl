# The node plugin of a storage system, as a system job.
# accept: refused
# needs: csi_plugin
# error: group "node": task "plugin": the csi_plugin block is not supported: Reeve has no CSI plugins; remove it, and use a volume of type "host", or the ephemeral_disk with sticky = true

job "csi-node" {
  type = "system"

  group "node" {
    task "plugin" {
      driver = "docker"
      config {
        image      = "registry.example.com/csi/hostpath:1.12"
        privileged = true
        args       = ["--endpoint=unix:///csi/csi.sock", "--nodeid=${node.unique.id}"]
      }
      csi_plugin {
        id             = "hostpath"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }
    }
  }
}
