// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "iter"

// A Renewal records that a member received a certificate of the new root, while the cluster
// rotates its root.
type Renewal struct {
	ID   string // of the member
	Root string // digest of the root that signed the certificate
	Time int64  // Unix time in nanoseconds
	Used bool   `json:",omitempty"` // reports whether the member confirmed that it uses the certificate

	CreateIndex uint64
	ModifyIndex uint64
}

var renewals = declare(noun[Renewal]{
	name: "renewals", singular: "renewal", verb: "Renewal", frame: 24,
	key:   func(r *Renewal) string { return r.ID },
	stamp: func(r *Renewal) (create, modify *uint64) { return &r.CreateIndex, &r.ModifyIndex },
	since: func(*Renewal) (int, string) { return 2, replacesRoot },
})

// TableRenewals holds *Renewal.
var TableRenewals = renewals.table

// Renewal returns the last renewal of a member during a rotation; nil if it has not renewed.
func (c *content) Renewal(id string) *Renewal { return renewals.find(c, id) }

// Renewals yields the renewals, ordered by the member's id.
func (c *content) Renewals() iter.Seq[*Renewal] { return renewals.all(c, "") }

// PutRenewal returns the command that stores a renewal.
func PutRenewal(r *Renewal) Command { return &putObject[Renewal]{renewals, r, nil} }

// DeleteRenewal returns the command that deletes the renewal of a member.
func DeleteRenewal(id string) Command { return &deleteObject[Renewal]{renewals, id, nil} }
