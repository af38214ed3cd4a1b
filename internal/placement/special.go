// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// A special is what one instance of a group needs beside amounts and ordinary
// ports: cores and devices of its tasks' own, and ports on one of the node's
// networks. It is nil for a group that needs nothing of the kind, and its
// methods then do nothing.
type special struct {
	cores int // of all tasks
}

// newSpecial returns what the group asks for; nil if nothing.
func newSpecial(g *api.Group) *special {
	s := &special{}
	for _, t := range g.Tasks {
		if t.Resources != nil {
			s.cores += value(t.Resources.Cores)
		}
	}
	if s.cores == 0 {
		return nil
	}
	return s
}

// need adds what the node makes of it in amounts: a core is worth its share of
// the node's MHz.
func (s *special) need(u api.Usage, n *api.Node) api.Usage {
	if s != nil && s.cores > 0 && n.Resources != nil {
		u.CPU += int64(s.cores) * n.Resources.CPU.PerCore()
	}
	return u
}

// lacks names what the node has too little of; "" if nothing.
func (s *special) lacks(n *api.Node, o *overlay) string {
	if s == nil {
		return ""
	}
	return ""
}
