// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/hex"
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A OneTimeToken is a one-time token as servers store it: without its secret. Each token has at
// most one, so their number is bounded.
type OneTimeToken struct {
	api.OneTimeToken        // OneTimeSecretID is empty
	Hash             []byte // SHA-256 of the secret
}

var oneTimeTokens = declare(noun[OneTimeToken]{
	name: "one_time_tokens", singular: "one-time token", verb: "OneTimeToken", frame: 32,
	key:    func(o *OneTimeToken) string { return o.AccessorID },
	stamp:  func(o *OneTimeToken) (create, modify *uint64) { return &o.CreateIndex, &o.ModifyIndex },
	groups: func(o *OneTimeToken) []string { return []string{hex.EncodeToString(o.Hash)} },
	since:  sinceACL[OneTimeToken],
	admit:  admitOneTimeToken,
})

// TableOneTimeTokens holds *OneTimeToken.
var TableOneTimeTokens = oneTimeTokens.table

// OneTimeToken returns the one-time token that stands for the token of an accessor id; nil if it does
// not exist.
func (c *content) OneTimeToken(accessor string) *OneTimeToken { return oneTimeTokens.find(c, accessor) }

// OneTimeTokens yields all one-time tokens, ordered by accessor id.
func (c *content) OneTimeTokens() iter.Seq[*OneTimeToken] { return oneTimeTokens.all(c, "") }

// OneTimeTokenOf returns the one-time token whose secret has the hash; nil if it does not exist.
func (c *content) OneTimeTokenOf(hash [32]byte) *OneTimeToken {
	for o := range oneTimeTokens.ofGroup(c, hex.EncodeToString(hash[:])) {
		return o
	}
	return nil
}

// PutOneTimeToken returns the command that stores a one-time token. It replaces the earlier one of the
// same token.
func PutOneTimeToken(o *OneTimeToken) Command { return &putObject[OneTimeToken]{oneTimeTokens, o, nil} }

// DeleteOneTimeToken returns the command that deletes a one-time token with a modify index. Of several
// such commands, only the first succeeds.
func DeleteOneTimeToken(accessor string, index uint64) Command {
	return &deleteObject[OneTimeToken]{oneTimeTokens, accessor, &index}
}

func admitOneTimeToken(_ *noun[OneTimeToken], c *content, _, new *OneTimeToken) error {
	if new != nil && c.ACLToken(new.AccessorID) == nil {
		return api.Errorf(api.CodeNotFound, "token %q not found: it was deleted", new.AccessorID)
	}
	return nil
}
