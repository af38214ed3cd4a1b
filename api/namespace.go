// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"slices"
	"strings"
)

// A Namespace isolates the names of jobs. Namespaces may nest: the parent of "dev/sandbox"
// is "dev".
type Namespace struct {
	Name         string
	Description  string
	Quota        string                 // not supported: must be empty
	Capabilities *NamespaceCapabilities // nil: everything is allowed
	Meta         map[string]string
	CreateIndex  uint64
	ModifyIndex  uint64

	// Settings of Nomad that are not supported. They must be empty.
	NodePoolConfiguration map[string]any    `json:",omitempty"`
	VaultConfiguration    map[string]any    `json:",omitempty"`
	ConsulConfiguration   map[string]any    `json:",omitempty"`
	RequiredExtraClaims   map[string]string `json:",omitempty"`
	OptionalExtraClaims   map[string]string `json:",omitempty"`
}

// NamespaceCapabilities restricts the jobs of a namespace when they are registered. A nil
// list of enabled drivers or modes allows all that are not disabled.
type NamespaceCapabilities struct {
	EnabledTaskDrivers   []string
	DisabledTaskDrivers  []string
	EnabledNetworkModes  []string
	DisabledNetworkModes []string
}

// Limits of a namespace.
const (
	maxNamespaceDescription = 256
	maxNamespaceMeta        = 16 << 10 // bytes of all keys and values
)

const namespaceNameRule = "must be 1 to 128 letters, digits and \"-\", with \"/\" between a parent and its child"

var namespaceName = regexp.MustCompile(`^[a-zA-Z0-9-]+(/[a-zA-Z0-9-]+)*$`)

// IsNamespaceName reports whether a name may be that of a namespace.
func IsNamespaceName(name string) bool {
	return name == DefaultNamespace || len(name) <= maxNameLength && namespaceName.MatchString(name)
}

// ParentNamespace returns the name of a namespace's parent; "" if it has none.
func ParentNamespace(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// Validate reports everything that is wrong with the namespace, as one *Error of
// CodeInvalid; nil if it is valid.
func (n *Namespace) Validate() error {
	var c complaints
	switch {
	case n.Name == "":
		c.add("Name is missing")
	case !IsNamespaceName(n.Name):
		c.add("Name: %q %s", n.Name, namespaceNameRule)
	}
	if len(n.Description) > maxNamespaceDescription {
		c.add("Description: has %d bytes; at most %d are allowed", len(n.Description), maxNamespaceDescription)
	}
	size := 0
	for key, value := range n.Meta {
		if key == "" {
			c.add("Meta: a key is empty")
		}
		size += len(key) + len(value)
	}
	if size > maxNamespaceMeta {
		c.add("Meta: has %d bytes; at most %d are allowed", size, maxNamespaceMeta)
	}
	if n.Quota != "" {
		c.add("Quota: %q: quotas are not supported yet; remove it", n.Quota)
	}
	for _, unsupported := range []struct {
		field string
		set   bool
		hint  string
	}{
		{"NodePoolConfiguration", len(n.NodePoolConfiguration) > 0, "set node_pool in job files instead"},
		{"VaultConfiguration", len(n.VaultConfiguration) > 0, "remove it"},
		{"ConsulConfiguration", len(n.ConsulConfiguration) > 0, "remove it"},
		{"RequiredExtraClaims", len(n.RequiredExtraClaims) > 0, "remove it"},
		{"OptionalExtraClaims", len(n.OptionalExtraClaims) > 0, "remove it"},
	} {
		if unsupported.set {
			c.add("%s: not supported; %s", unsupported.field, unsupported.hint)
		}
	}
	return c.err("the namespace is not valid")
}

// Refusals returns the parts of a job that the namespace does not allow.
func (n *Namespace) Refusals(j *Job) []string {
	if n.Capabilities == nil {
		return nil
	}
	may := n.Capabilities
	var c complaints
	for _, g := range j.Groups {
		for _, network := range g.Networks {
			mode := network.Mode
			if mode == "" {
				mode = "host"
			}
			if !allows(may.EnabledNetworkModes, may.DisabledNetworkModes, mode) {
				c.add("group %q: namespace %q does not allow network mode %q", g.Name, n.Name, mode)
			}
		}
		for _, t := range g.Tasks {
			if !allows(may.EnabledTaskDrivers, may.DisabledTaskDrivers, t.Driver) {
				c.add("group %q, task %q: namespace %q does not allow driver %q", g.Name, t.Name, n.Name, t.Driver)
			}
		}
	}
	return c
}

func allows(enabled, disabled []string, value string) bool {
	return (len(enabled) == 0 || slices.Contains(enabled, value)) && !slices.Contains(disabled, value)
}
