// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var volumeSchema = &schema[api.VolumeRequest]{
	noun:  "volume",
	label: "name",
	name:  func(v *api.VolumeRequest) *string { return &v.Name },
	oneOf: map[string][]string{
		"type": {"host", "csi"},
	},
	attrs: attrs[api.VolumeRequest]{
		"type":            func(v *api.VolumeRequest) any { return &v.Type },
		"source":          func(v *api.VolumeRequest) any { return &v.Source },
		"read_only":       func(v *api.VolumeRequest) any { return &v.ReadOnly },
		"sticky":          func(v *api.VolumeRequest) any { return &v.Sticky },
		"access_mode":     func(v *api.VolumeRequest) any { return &v.AccessMode },
		"attachment_mode": func(v *api.VolumeRequest) any { return &v.AttachmentMode },
		"per_alloc":       func(v *api.VolumeRequest) any { return &v.PerAlloc },
	},
	blocks: blocks[api.VolumeRequest]{
		"mount_options": one(mountOptionsSchema, func(v *api.VolumeRequest) **api.VolumeMountOptions { return &v.MountOptions }),
	},
}

var mountOptionsSchema = &schema[api.VolumeMountOptions]{
	noun: "mount_options",
	attrs: attrs[api.VolumeMountOptions]{
		"fs_type":     func(m *api.VolumeMountOptions) any { return &m.FSType },
		"mount_flags": func(m *api.VolumeMountOptions) any { return &m.MountFlags },
	},
}

var volumeMountSchema = &schema[api.VolumeMount]{
	noun: "volume_mount",
	attrs: attrs[api.VolumeMount]{
		"volume":           func(m *api.VolumeMount) any { return &m.Volume },
		"destination":      func(m *api.VolumeMount) any { return &m.Destination },
		"read_only":        func(m *api.VolumeMount) any { return &m.ReadOnly },
		"propagation_mode": func(m *api.VolumeMount) any { return &m.PropagationMode },
		"selinux_label":    func(m *api.VolumeMount) any { return &m.SELinuxLabel },
	},
}

var diskSchema = &schema[api.EphemeralDisk]{
	noun: "ephemeral_disk",
	attrs: attrs[api.EphemeralDisk]{
		"sticky":  func(k *api.EphemeralDisk) any { return &k.Sticky },
		"migrate": func(k *api.EphemeralDisk) any { return &k.Migrate },
		"size":    func(k *api.EphemeralDisk) any { return &k.SizeMB },
	},
}

var csiPluginSchema = &schema[api.CSIPlugin]{
	noun: "csi_plugin",
	attrs: attrs[api.CSIPlugin]{
		"id":                     func(p *api.CSIPlugin) any { return &p.ID },
		"type":                   func(p *api.CSIPlugin) any { return &p.Type },
		"mount_dir":              func(p *api.CSIPlugin) any { return &p.MountDir },
		"stage_publish_base_dir": func(p *api.CSIPlugin) any { return &p.StagePublishBaseDir },
		"health_timeout":         func(p *api.CSIPlugin) any { return &p.HealthTimeout },
	},
}
