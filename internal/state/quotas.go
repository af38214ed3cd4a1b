// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

var quotas = declare(noun[api.Quota]{
	name: "quotas", singular: "quota", verb: "Quota", frame: 29,
	key:   func(q *api.Quota) string { return q.Name },
	stamp: func(q *api.Quota) (create, modify *uint64) { return &q.CreateIndex, &q.ModifyIndex },
	since: func(*api.Quota) (int, string) { return 3, limitsNamespaces },
})

// Namespaces and quotas check each other, which would be an initialization cycle in their
// declarations.
func init() {
	quotas.admit = admitQuota
	namespaces.changed = func(t *txn, old, new *api.Namespace) { t.requota(old, new) }
}

// TableQuotas holds *api.Quota.
var TableQuotas = quotas.table

// Quota returns the quota of that name; nil if it does not exist.
func (c *content) Quota(name string) *api.Quota { return quotas.find(c, name) }

// QuotasPrefix yields the quotas whose name begins with prefix, ordered by name.
func (c *content) QuotasPrefix(prefix string) iter.Seq[*api.Quota] { return quotas.all(c, prefix) }

// PutQuota returns the command that stores a quota, new or changed. enforce is as in PutNamespace.
func PutQuota(q *api.Quota, enforce *uint64) Command {
	return &putObject[api.Quota]{quotas, q, enforce}
}

// DeleteQuota returns the command that deletes a quota that no namespace names.
func DeleteQuota(name string) Command { return &deleteObject[api.Quota]{quotas, name, nil} }

func admitQuota(_ *noun[api.Quota], c *content, old, new *api.Quota) error {
	switch {
	case new != nil && new.Name == "":
		return api.Errorf(api.CodeInvalid, "a quota needs a Name")
	case new != nil:
		return nil
	}
	if users := c.NamespacesOfQuota(old.Name); len(users) > 0 {
		return api.Errorf(api.CodeConflict, "quota %q limits %s; give them another quota first: reeve namespace apply -quota \"\" %s", old.Name, some(users, "namespace"), users[0])
	}
	return nil
}

// NamespacesOfQuota returns the names of the namespaces that name a quota, in order.
func (c *content) NamespacesOfQuota(name string) (names []string) {
	for n := range c.NamespacesPrefix("") {
		if n.Quota == name {
			names = append(names, n.Name)
		}
	}
	return names
}

// QuotasOf returns the names of the quotas against which the allocations of a namespace count: its
// own and those of its ancestors, each once.
func (c *content) QuotasOf(namespace string) []string {
	if c.limited == 0 {
		return nil
	}
	return c.quotasWith(namespace, "", "")
}

// quotasWith is QuotasOf if the namespace of a name had another quota.
func (c *content) quotasWith(namespace, name, quota string) (names []string) {
	for ; namespace != ""; namespace = api.ParentNamespace(namespace) {
		own := quota
		if namespace != name {
			n := c.Namespace(namespace)
			if n == nil {
				continue
			}
			own = n.Quota
		}
		if own != "" && !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names
}
