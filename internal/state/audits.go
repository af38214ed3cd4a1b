// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// audits holds audit records, ordered by object and then by age.
var audits = declare(noun[api.AuditRecord]{
	name: "audit records", singular: "audit record", verb: "AuditRecord", frame: 18,
	key:   func(r *api.AuditRecord) string { return r.ID },
	stamp: func(r *api.AuditRecord) (create, modify *uint64) { return &r.CreateIndex, &r.ModifyIndex },
})

// TableAudit holds *api.AuditRecord.
var TableAudit = audits.table

// auditSeparator stands between the parts of a record's id. No namespace, stack or unit has it in its name.
const auditSeparator = "|"

// auditPrefix begins the ids of an object's records.
func auditPrefix(namespace, kind, object string) string {
	return strings.Join([]string{namespace, kind, object, ""}, auditSeparator)
}

// Audit yields the records of an object, oldest first.
func (c *content) Audit(namespace, kind, object string) iter.Seq[*api.AuditRecord] {
	return audits.all(c, auditPrefix(namespace, kind, object))
}

// AllAudit yields the records of all objects of a namespace, or of all namespaces if it is "*".
func (c *content) AllAudit(namespace string) iter.Seq[*api.AuditRecord] {
	if namespace == "*" {
		return audits.all(c, "")
	}
	return audits.all(c, namespace+auditSeparator)
}

// audit stores a record and deletes the oldest ones of its object beyond the limit.
func (t *txn) audit(r *api.AuditRecord) {
	prefix := auditPrefix(r.Namespace, r.Kind, r.Object)
	var ids []string
	for old := range audits.all(t.content, prefix) {
		ids = append(ids, old.ID)
	}
	sequence := 0 // several records of one object in one entry
	for r.ID = ""; r.ID == "" || slices.Contains(ids, r.ID); sequence++ {
		r.ID = fmt.Sprintf("%s%016x-%04x", prefix, t.index, sequence)
	}
	audits.put(t, r)
	for len(ids) >= api.AuditPerObject {
		audits.delete(t, ids[0])
		ids = ids[1:]
	}
}

// deleteAudit deletes the records of an object.
func (t *txn) deleteAudit(namespace, kind, object string) {
	for _, r := range slices.Collect(audits.all(t.content, auditPrefix(namespace, kind, object))) {
		audits.delete(t, r.ID)
	}
}
