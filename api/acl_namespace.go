// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"strings"
)

// Policies of a namespace.
//
// The name of a policy that belongs to a namespace begins with that of the namespace, with dots: the
// namespace "web/test" has the policies "web.test.NAME". Names of other policies contain no dot. So a
// policy of a namespace never has a name that means another one, or will.

var namespacedACLName = regexp.MustCompile(`^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+$`)

const (
	maxNamespacedACLName = 256
	maxNamespacedLinks   = 16 // policies of a token that belongs to a namespace
)

// PolicyNamespace returns the namespace to which the policy of a name belongs; "": none.
func PolicyNamespace(name string) string {
	if !namespacedACLName.MatchString(name) {
		return ""
	}
	return strings.ReplaceAll(name[:strings.LastIndexByte(name, '.')], ".", "/")
}

// PolicyPrefix returns the beginning of the names of a namespace's policies.
func PolicyPrefix(namespace string) string { return strings.ReplaceAll(namespace, "/", ".") + "." }

// IsBelow reports whether a namespace is another one, or below it.
func IsBelow(namespace, ancestor string) bool {
	return namespace == ancestor || strings.HasPrefix(namespace, ancestor+"/")
}

func (p *ACLPolicy) validateName(c *complaints) {
	of := PolicyNamespace(p.Name)
	switch {
	case of == "" && p.Namespace != "":
		c.add("Name: %q must begin with %q, because the policy belongs to namespace %q", p.Name, PolicyPrefix(p.Namespace), p.Namespace)
	case of == "" && !aclName.MatchString(p.Name):
		c.add("Name: %.300q %s; a policy that belongs to a namespace has its name and a dot before", p.Name, aclNameRule)
	case of != p.Namespace:
		c.add("Name: %q is a policy of namespace %q, and Namespace is %q", p.Name, of, p.Namespace)
	case len(p.Name) > maxNamespacedACLName:
		c.add("Name: has %d characters; at most %d are allowed", len(p.Name), maxNamespacedACLName)
	case of != "" && p.JobACL != nil:
		c.add("JobACL: a policy that belongs to a namespace cannot be for tasks; only an administrator of the cluster gives them rights, with a policy without a dot in its name")
	}
}

// validateNamespace checks that the policies of a token belong where the token belongs.
func (t *ACLToken) validateNamespace(c *complaints) {
	if t.Namespace != "" {
		switch {
		case t.Type == ACLTokenManagement:
			c.add("Type: a token that belongs to a namespace is a %s token", ACLTokenClient)
		case len(t.Roles) > 0:
			c.add("Roles: a token that belongs to a namespace has no roles; name policies of the namespace")
		case len(t.Policies) > maxNamespacedLinks:
			c.add("Policies: has %d entries; a token that belongs to a namespace may have %d", len(t.Policies), maxNamespacedLinks)
		}
	}
	for _, name := range t.Policies {
		switch of := PolicyNamespace(name); {
		case t.Namespace != "" && (of == "" || !IsBelow(of, t.Namespace)):
			c.add("Policies: %.300q is not a policy of namespace %q, to which the token belongs; its policies have names such as %q", name, t.Namespace, PolicyPrefix(t.Namespace)+"NAME")
		case t.Namespace == "" && of != "":
			c.add("Policies: %.300q belongs to namespace %q, and only tokens of that namespace may have it; they are created with a token that has the capability delegate there", name, of)
		}
	}
}
