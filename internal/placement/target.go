// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A target is one side of a constraint: a literal, or a value of a node: ${attr.NAME},
// ${driver.NAME}, ${unique.NAME}, ${meta.NAME}, ${node.datacenter}, ${node.class},
// ${node.pool}, ${node.region}, ${node.unique.id} or ${node.unique.name}.
type target struct {
	space   string // "attr", "meta", "node"; "" for a literal
	name    string // name of the attribute, or the literal itself
	literal bool
	unique  bool // reports whether nodes of one class may differ in it
}

func newTarget(s string) target {
	inner, ok := strings.CutPrefix(s, "${")
	if !ok || !strings.HasSuffix(inner, "}") {
		return target{name: s, literal: true}
	}
	inner = strings.TrimSuffix(inner, "}")
	space, name, _ := strings.Cut(inner, ".")
	t := target{space: space, name: name, unique: strings.HasPrefix(name, api.UniquePrefix)}
	if space == "driver" || space == "unique" {
		t.space, t.name, t.unique = "attr", inner, space == "unique"
	}
	return t
}

// of returns the target's value on the node and whether the node has one.
func (t target) of(n *api.Node) (string, bool) {
	switch t.space {
	case "":
		return t.name, t.literal
	case "attr":
		v, ok := n.Attributes[t.name]
		return v, ok
	case "meta":
		v, ok := n.Meta[t.name]
		return v, ok
	case "node":
		switch t.name {
		case "unique.id":
			return n.ID, true
		case "unique.name":
			return n.Name, true
		case "datacenter":
			return n.Datacenter, true
		case "region":
			return "global", true
		case "class":
			return n.NodeClass, n.NodeClass != ""
		case "pool":
			return n.NodePool, true
		}
	}
	return "", false
}
