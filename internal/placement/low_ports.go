// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// lowPortMismatch returns why containers on n cannot listen on the group's fixed ports.
func (r *rules) lowPortMismatch(n *api.Node) string {
	for _, p := range r.lowPorts {
		if reason := p.Mismatch(n); reason != "" {
			return reason
		}
	}
	return ""
}
