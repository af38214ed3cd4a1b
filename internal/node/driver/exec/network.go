// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"slices"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// showNetwork replaces the host's name and its files about names by those of the allocation's own
// network.
func showNetwork(s *isolate.Spec, n *driver.Network) {
	if n == nil {
		return
	}
	s.Hostname = n.Hostname
	hidden := []string{"/etc/hostname"}
	for _, f := range []struct{ source, target string }{{n.Hosts, "/etc/hosts"}, {n.Resolver, "/etc/resolv.conf"}} {
		if f.source == "" {
			continue
		}
		hidden = append(hidden, f.target)
		s.Mounts = append(s.Mounts, isolate.Mount{Source: f.source, Target: f.target, ReadOnly: true})
	}
	s.HostPaths = slices.DeleteFunc(slices.Clone(s.HostPaths), func(p string) bool { return slices.Contains(hidden, p) })
}
