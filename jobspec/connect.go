// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A shape is the schema of a block that the job holds as plain JSON: Reeve parses Consul
// Connect only to reject it by name, and has no types for it. The values are JSON keys.
type shape struct {
	noun     string
	attrs    map[string]string
	times    map[string]string // arguments that are durations
	texts    map[string]string // blocks of free keys
	one      map[string]part
	many     map[string]part
	labelled map[string]part // blocks with a label, which make a map
}

// A part is a nested block of a shape.
type part struct {
	key   string
	shape *shape
}

func (s *shape) keys() *keys {
	k := &keys{noun: s.noun, nested: map[string]*keys{}}
	k.attrs = slices.Sorted(maps.Keys(s.attrs))
	k.attrs = append(k.attrs, slices.Sorted(maps.Keys(s.times))...)
	for _, blocks := range []map[string]part{s.one, s.many, s.labelled} {
		k.blocks = append(k.blocks, slices.Sorted(maps.Keys(blocks))...)
		for name, p := range blocks {
			k.nested[name] = p.shape.keys()
		}
	}
	k.blocks = append(k.blocks, slices.Sorted(maps.Keys(s.texts))...)
	return k
}

// read returns the block's JSON object.
func (s *shape) read(d *decoder, b *block) map[string]any {
	out := map[string]any{}
	for _, a := range inOrder(b.body.Attributes) {
		var value any
		var duration time.Duration
		var into any = &value
		key, ok := s.attrs[a.Name]
		if !ok {
			key, ok = s.texts[a.Name]
		}
		_, isTime := s.times[a.Name]
		if isTime {
			key, into = s.times[a.Name], &duration
		} else if !ok {
			d.unknownAttr(s.keys(), b, a)
			continue
		}
		v, ok := d.eval(b.scope, a.Expr)
		if !ok {
			continue
		}
		if err := assign(into, v); err != nil {
			d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
			continue
		}
		out[key] = value
		if isTime {
			out[key] = float64(duration)
		}
	}
	for _, nb := range d.expand(b.body.Blocks, b.scope) {
		s.readNested(d, b, nb, out)
	}
	return out
}

func (s *shape) readNested(d *decoder, b, nb *block, out map[string]any) {
	if key, ok := s.texts[nb.kind]; ok {
		out[key] = d.free(nb)
		return
	}
	if p, ok := s.one[nb.kind]; ok {
		if _, dup := out[p.key]; dup {
			d.addAt(nb.kindRange, "%s has a second %s block", b.title(), nb.kind)
			return
		}
		out[p.key] = p.shape.read(d, nb)
		return
	}
	if p, ok := s.many[nb.kind]; ok {
		earlier, _ := out[p.key].([]any)
		out[p.key] = append(earlier, p.shape.read(d, nb))
		return
	}
	if p, ok := s.labelled[nb.kind]; ok && len(nb.labels) == 1 {
		named, _ := out[p.key].(map[string]any)
		if named == nil {
			named = map[string]any{}
			out[p.key] = named
		}
		content := p.shape.read(d, nb)
		content["Name"] = nb.labels[0]
		named[nb.labels[0]] = content
		return
	}
	d.unknownBlock(s.keys(), b, nb)
}

func readConnect(d *decoder, s *api.Service, b *block) { s.Connect = connectShape.read(d, b) }

// pascal maps arguments to JSON keys that are the same names in Pascal case.
func pascal(names ...string) map[string]string {
	out := map[string]string{}
	for _, n := range names {
		key := ""
		for _, word := range strings.Split(n, "_") {
			switch word {
			case "tls", "uid", "dns", "sni", "sds":
				key += strings.ToUpper(word)
			case "cidrs":
				key += "CIDRs"
			case "uids":
				key += "UIDs"
			default:
				key += strings.ToUpper(word[:1]) + word[1:]
			}
		}
		out[n] = key
	}
	return out
}

// connectShape is the schema of service.connect.
var connectShape = &shape{
	noun:  "connect",
	attrs: pascal("native"),
	one: map[string]part{
		"sidecar_service": {"SidecarService", sidecarServiceShape},
		"sidecar_task":    {"SidecarTask", sidecarTaskShape},
		"gateway":         {"Gateway", gatewayShape},
	},
}

var sidecarServiceShape = &shape{
	noun:  "sidecar_service",
	attrs: map[string]string{"tags": "Tags", "port": "Port", "disable_default_tcp_check": "DisableDefaultTCPCheck"},
	texts: pascal("meta"),
	one:   map[string]part{"proxy": {"Proxy", proxyShape}},
}

var proxyShape = &shape{
	noun:  "proxy",
	attrs: pascal("local_service_address", "local_service_port"),
	texts: pascal("config"),
	one: map[string]part{
		"expose": {"Expose", &shape{noun: "expose", many: map[string]part{
			"path": {"Paths", &shape{noun: "path", attrs: pascal("path", "protocol", "local_path_port", "listener_port")}},
		}}},
		"transparent_proxy": {"TransparentProxy", &shape{noun: "transparent_proxy", attrs: pascal("uid", "outbound_port",
			"exclude_inbound_ports", "exclude_outbound_ports", "exclude_outbound_cidrs", "exclude_uids", "no_dns")}},
	},
	many: map[string]part{"upstreams": {"Upstreams", upstreamShape}},
}

var upstreamShape = &shape{
	noun: "upstreams",
	attrs: pascal("destination_name", "destination_namespace", "destination_peer", "destination_partition", "destination_type",
		"local_bind_port", "datacenter", "local_bind_address", "local_bind_socket_path", "local_bind_socket_mode"),
	texts: pascal("config"),
	one:   map[string]part{"mesh_gateway": {"MeshGateway", &shape{noun: "mesh_gateway", attrs: pascal("mode")}}},
}

var sidecarTaskShape = &shape{
	noun:  "sidecar_task",
	attrs: pascal("name", "driver", "user", "kill_signal"),
	times: pascal("kill_timeout", "shutdown_delay"),
	texts: pascal("config", "env", "meta"),
	one: map[string]part{
		"resources": {"Resources", &shape{noun: "resources", attrs: map[string]string{
			"cpu": "CPU", "cores": "Cores", "memory": "MemoryMB", "memory_max": "MemoryMaxMB", "disk": "DiskMB"}}},
		"logs": {"LogConfig", &shape{noun: "logs", attrs: map[string]string{
			"max_files": "MaxFiles", "max_file_size": "MaxFileSizeMB", "disabled": "Disabled"}}},
	},
	many: map[string]part{
		"identity": {"Identities", &shape{noun: "identity", times: map[string]string{"ttl": "TTL"}, attrs: map[string]string{
			"name": "Name", "aud": "Audience", "change_mode": "ChangeMode", "change_signal": "ChangeSignal", "env": "Env", "file": "File",
			"filepath": "Filepath", "service_name": "ServiceName", "extra_claims": "ExtraClaims"}}},
		"volume_mount": {"VolumeMounts", &shape{noun: "volume_mount", attrs: map[string]string{
			"volume": "Volume", "destination": "Destination", "read_only": "ReadOnly", "propagation_mode": "PropagationMode", "selinux_label": "SELinuxLabel"}}},
	},
}
