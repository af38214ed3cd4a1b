// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A Namespace isolates the names of jobs. Namespaces may nest: the parent of "dev/sandbox"
// is "dev".
type Namespace struct {
	Name         string
	Description  string
	Quota        string                 // name of the quota of the namespace; "": only those of its ancestors
	Capabilities *NamespaceCapabilities // nil: everything is allowed
	Meta         map[string]string
	CreateIndex  uint64
	ModifyIndex  uint64

	// NodePoolConfiguration restricts the node pools of jobs; nil: every pool is allowed.
	NodePoolConfiguration *NamespaceNodePools `json:",omitempty"`

	// Priorities restricts the priorities of jobs; nil: every priority is allowed.
	Priorities *NamespacePriorities `json:",omitempty"`

	// Settings of Nomad that are not supported. They must be empty.
	VaultConfiguration  map[string]any    `json:",omitempty"`
	ConsulConfiguration map[string]any    `json:",omitempty"`
	RequiredExtraClaims map[string]string `json:",omitempty"`
	OptionalExtraClaims map[string]string `json:",omitempty"`
}

// NamespaceCapabilities restricts the jobs of a namespace when they are registered. A nil
// list of enabled drivers or modes allows all that are not disabled.
type NamespaceCapabilities struct {
	EnabledTaskDrivers   []string
	DisabledTaskDrivers  []string
	EnabledNetworkModes  []string
	DisabledNetworkModes []string
}

// NamespaceNodePools restricts the node pools of a namespace's jobs when they are registered. In
// names of pools, "*" stands for any text.
type NamespaceNodePools struct {
	Default string   // pool of jobs that name none; "": the built-in default pool. It is always allowed
	Allowed []string // empty: all pools that are not denied
	Denied  []string // must be empty if Allowed is not
}

// NamespacePriorities restricts the priorities of a namespace's jobs when they are registered. A job that
// names none has JobPriorityDefault.
type NamespacePriorities struct {
	Min int // 0: JobPriorityMin
	Max int // 0: JobPriorityMax
}

// Limits of a namespace.
const (
	maxNamespaceDescription = 256
	maxNamespaceMeta        = 16 << 10 // bytes of all keys and values
	maxNamespacePools       = 128      // entries of each list
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
	if n.Quota != "" && !IsQuotaName(n.Quota) {
		c.add("Quota: %.128q %s", n.Quota, quotaNameRule)
	}
	n.NodePoolConfiguration.validate(&c)
	n.Priorities.validate(&c)
	for _, unsupported := range []struct {
		field string
		set   bool
		hint  string
	}{
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
	var c complaints
	if !n.NodePoolConfiguration.Allows(j.NodePool) {
		c.add("namespace %q does not allow node pool %q", n.Name, j.NodePool)
	}
	if lo, hi := n.Priorities.Range(); n.Priorities != nil && (j.Priority < lo || j.Priority > hi) {
		c.add("priority %d: namespace %q allows priorities from %d to %d; set priority in the job", j.Priority, n.Name, lo, hi)
	}
	if n.Capabilities == nil {
		return c
	}
	may := n.Capabilities
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

func (p *NamespaceNodePools) validate(c *complaints) {
	if p == nil {
		return
	}
	if p.Default != "" && !isPoolName(p.Default) {
		c.add("NodePoolConfiguration.Default: %.128q is not the name of a node pool", p.Default)
	}
	if len(p.Allowed) > 0 && len(p.Denied) > 0 {
		c.add("NodePoolConfiguration: Allowed and Denied are both set; remove one")
	}
	for _, list := range []struct {
		field string
		names []string
	}{{"Allowed", p.Allowed}, {"Denied", p.Denied}} {
		if len(list.names) > maxNamespacePools {
			c.add("NodePoolConfiguration.%s: has %d entries; at most %d are allowed", list.field, len(list.names), maxNamespacePools)
			continue
		}
		for _, name := range list.names {
			if !isPoolName(strings.ReplaceAll(name, "*", "-")) {
				c.add("NodePoolConfiguration.%s: %.128q is not the name of a node pool; \"*\" stands for any text", list.field, name)
			}
		}
	}
}

func (p *NamespacePriorities) validate(c *complaints) {
	if p == nil {
		return
	}
	for _, bound := range []struct {
		field string
		value int
	}{{"Min", p.Min}, {"Max", p.Max}} {
		if bound.value != 0 && (bound.value < JobPriorityMin || bound.value > JobPriorityMax) {
			c.add("Priorities.%s: %d is not from %d to %d", bound.field, bound.value, JobPriorityMin, JobPriorityMax)
		}
	}
	if lo, hi := p.Range(); lo > hi {
		c.add("Priorities: Min %d is above Max %d: no job would be allowed", lo, hi)
	}
}

// Range returns the lowest and the highest priority that jobs may have.
func (p *NamespacePriorities) Range() (lo, hi int) {
	if p == nil {
		return JobPriorityMin, JobPriorityMax
	}
	return cmp.Or(p.Min, JobPriorityMin), cmp.Or(p.Max, JobPriorityMax)
}

// DefaultPool returns the node pool of jobs that name none.
func (n *Namespace) DefaultPool() string {
	if p := n.NodePoolConfiguration; p != nil && p.Default != "" {
		return p.Default
	}
	return NodePoolDefault
}

// Allows reports whether jobs may use a node pool. The pool "all" has the nodes of every pool, so
// it needs to be allowed by a name of its own or by "*".
func (p *NamespaceNodePools) Allows(pool string) bool {
	switch {
	case p == nil:
		return true
	case p.Default != "" && pool == p.Default:
		return true
	case len(p.Allowed) > 0:
		return slices.ContainsFunc(p.Allowed, func(glob string) bool { return matchesGlob(glob, pool) })
	case pool == NodePoolAll && len(p.Denied) > 0:
		return false
	}
	return !slices.ContainsFunc(p.Denied, func(glob string) bool { return matchesGlob(glob, pool) })
}

// matchesGlob reports whether a name matches a pattern in which "*" stands for any text.
func matchesGlob(glob, name string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, parts[last])
}
