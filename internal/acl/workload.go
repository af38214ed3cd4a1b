// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strings"
)

// workloadPolicy is the name of the policy that all tasks have.
const workloadPolicy = "of all tasks"

// OfTask returns the rights that every task of a job has: to list and read the variables that are its
// own by their paths, below nomad/jobs. readable reports whether a path may be that of a variable.
func OfTask(namespace, job, group, task string, readable func(path string) bool) *Policy {
	var b strings.Builder
	fmt.Fprintf(&b, "namespace %q {\n variables {\n", namespace)
	path := "nomad/jobs"
	for _, part := range []string{"", job, group, task} {
		if part != "" {
			path += "/" + part
		}
		// A path that no variable can have may contain characters that mean something in a rule.
		if readable(path) {
			fmt.Fprintf(&b, "  path %q { capabilities = [\"read\", \"list\"] }\n", path)
		}
	}
	b.WriteString(" }\n}\n")
	p, err := Parse(workloadPolicy, b.String())
	if err != nil {
		return DenyAll(workloadPolicy)
	}
	return p
}

// NewBesides combines policies into an ACL that also grants what another one does, unless a rule of the
// policies denies it. The rules of the two do not compete: the more exact label of one does not replace
// the rule of the other.
func NewBesides(other *ACL, policies ...*Policy) *ACL {
	a := New(policies...)
	a.besides = other
	for scope := range scopes {
		a.some[scope] |= other.some[scope]
	}
	return a
}
