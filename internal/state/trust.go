// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Trust holds what the servers of a cluster share to know each other and their nodes. Its
// secrets are encrypted with the cluster's key, which is not in the state in clear: each
// api.Server has it sealed for itself.
type Trust struct {
	ClusterID string // in all certificates
	Roots     string // certificates of the authority in PEM, newest first
	CAKey     []byte // key of the newest root, encrypted
	// CrossSigned is the newest root, signed by the one before it, in PEM, and Rotated the time
	// in Unix nanoseconds at which it became the newest; empty unless a rotation is under way.
	CrossSigned string `json:",omitempty"`
	Rotated     int64  `json:",omitempty"`
	// Tokens holds the join tokens by kind, encrypted; Operators the SHA-256 of the valid
	// operator's tokens.
	Tokens    map[string][]byte
	Operators [][]byte
	// External reports whether members have certificates of another authority. The cluster then
	// has neither roots nor join tokens.
	External bool `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// trustKey is the key of the one object.
const trustKey = "cluster"

var trusts = declare(noun[Trust]{
	name: "trust", singular: "trust", verb: "Trust", frame: 22,
	key:   func(*Trust) string { return trustKey },
	stamp: func(t *Trust) (create, modify *uint64) { return &t.CreateIndex, &t.ModifyIndex },
	since: sinceRotation,
})

// TableTrust holds the one *Trust.
var TableTrust = trusts.table

// Trust returns what members of the cluster trust; nil before the cluster has an authority.
func (c *content) Trust() *Trust { return trusts.find(c, trustKey) }

// PutTrust returns the command that stores the trust. enforce is the modify index that the
// stored one must have; 0: there must be none.
func PutTrust(t *Trust, enforce *uint64) Command { return &putObject[Trust]{trusts, t, enforce} }
