// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// An Introduction records that a node joined with an introduction token. It binds the node to
// the pool and the name of the token, also after the node was purged: its certificate remains
// valid, and it may register again.
type Introduction struct {
	NodeID string
	Key    []byte // SHA-256 of the public key with which the machine joined
	Once   bool   // reports whether the token admits no other machine
	api.NodeIntroduction

	CreateIndex uint64
	ModifyIndex uint64
}

var introductions = declare(noun[Introduction]{
	name: "introductions", singular: "introduction", verb: "Introduction", frame: 36,
	key:    func(i *Introduction) string { return i.NodeID },
	stamp:  func(i *Introduction) (create, modify *uint64) { return &i.CreateIndex, &i.ModifyIndex },
	groups: func(i *Introduction) []string { return []string{i.TokenID} },
	since:  func(*Introduction) (int, string) { return 3, "introduce nodes" },
	admit:  admitIntroduction,
})

// TableIntroductions holds *Introduction.
var TableIntroductions = introductions.table

// Introduction returns what binds a node; nil if it joined with another token.
func (c *content) Introduction(nodeID string) *Introduction { return introductions.find(c, nodeID) }

// IntroducedBy yields the machines that joined with an introduction token.
func (c *content) IntroducedBy(tokenID string) iter.Seq[*Introduction] {
	return introductions.ofGroup(c, tokenID)
}

// Introductions yields all introductions, ordered by node.
func (c *content) Introductions() iter.Seq[*Introduction] { return introductions.all(c, "") }

// PutIntroduction returns the command that stores an introduction. Of several machines that use
// one token for a single machine, only the first is stored.
func PutIntroduction(i *Introduction) Command {
	var absent uint64
	return &putObject[Introduction]{introductions, i, &absent}
}

// DeleteIntroduction returns the command that forgets the introduction of a node. Its
// certificate must not be valid.
func DeleteIntroduction(nodeID string) Command {
	return &deleteObject[Introduction]{introductions, nodeID, nil}
}

func admitIntroduction(n *noun[Introduction], c *content, old, new *Introduction) error {
	if new == nil || old != nil || !new.Once {
		return nil
	}
	for used := range n.ofGroup(c, new.TokenID) {
		return IntroducedError(used)
	}
	return nil
}

// IntroducedError rejects a second machine with a token for one.
func IntroducedError(used *Introduction) error {
	return api.Errorf(api.CodeForbidden, "join: the introduction token was used: node %s joined with it, and it admits one machine only; make another one with: reeve cluster token introduce", api.ShortID(used.NodeID))
}

// admits returns an error if a node says what its introduction does not permit.
func (i *Introduction) admits(n *api.Node) error {
	switch {
	case n.Pool() != i.NodePool:
		return api.Errorf(api.CodeForbidden, "the node says that it is in pool %.64q, but its introduction token puts it into pool %q: correct node_pool in its configuration, or empty its data directory and join with another token", n.Pool(), i.NodePool)
	case i.NodeName != "" && n.Name != i.NodeName:
		return api.Errorf(api.CodeForbidden, "the node says that its name is %.64q, but its introduction token names it %q: correct name in its configuration, or empty its data directory and join with another token", n.Name, i.NodeName)
	}
	return nil
}

// introduced checks a node that registers against its introduction, and notes it.
func (t *txn) introduced(n *api.Node) error {
	n.Introduction = nil
	i := t.Introduction(n.ID)
	if i == nil {
		return nil
	}
	shown := i.NodeIntroduction
	n.Introduction = &shown
	if err := i.admits(n); err != nil {
		return err
	}
	return t.soleOfName(i, n)
}

// soleOfName refuses a new node if another one has the name that its introduction gives it: two machines that
// join at the same time do not see each other.
func (t *txn) soleOfName(i *Introduction, n *api.Node) error {
	if i.NodeName == "" || t.Node(n.ID) != nil {
		return nil
	}
	for other := range t.Nodes() {
		if other.Name == n.Name && !other.IsGone() {
			return api.Errorf(api.CodeConflict, "node %s has the name %q, which the introduction token of this node names, and is %s: stop its agent until it is down, or empty the data directory of this node and join with another token", api.ShortID(other.ID), n.Name, other.Status)
		}
	}
	return nil
}

// CheckIntroduction returns the error with which the registration of a node would fail because
// of its introduction.
func (c *content) CheckIntroduction(n *api.Node) error {
	if i := c.Introduction(n.ID); i != nil {
		return i.admits(n)
	}
	return nil
}
