// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

// UniquePrefix marks attributes and metadata that differ on every node. They are not part
// of a node's class; constraints on them are evaluated per node.
const UniquePrefix = "unique."

// ComputeClass returns a hash of everything that constraints can see of a node, except for
// unique attributes. Nodes of one class are feasible for the same tasks.
func ComputeClass(n *Node) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", n.Datacenter, n.NodePool, n.NodeClass)
	hashMap(h, "attr", n.Attributes)
	hashMap(h, "meta", n.Meta)
	for _, name := range slices.Sorted(maps.Keys(n.Drivers)) {
		if d := n.Drivers[name]; d != nil {
			fmt.Fprintf(h, "driver %q %t %t\n", name, d.Detected, d.Healthy)
		}
	}
	if n.Resources != nil {
		for _, d := range n.Resources.Devices {
			fmt.Fprintf(h, "device %q %q %q\n", d.Vendor, d.Type, d.Name)
			for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
				fmt.Fprintf(h, "  %q %q\n", name, d.Attributes[name].Text())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.HostNetworks)) {
		fmt.Fprintf(h, "host network %q\n", name)
	}
	return "v1:" + hex.EncodeToString(h.Sum(nil)[:12])
}

func hashMap(h hash.Hash, name string, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(k, UniquePrefix) {
			fmt.Fprintf(h, "%s %q %q\n", name, k, m[k])
		}
	}
}
