// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"regexp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/resetfile"
	"github.com/reeve-run/reeve/internal/state"
)

// Bootstrap.
//
// A cluster is bootstrapped when it is founded: its first server writes the operator's token. A later
// bootstrap needs a reset: a file on the leader that contains the reset index. The file alone is not
// sufficient. Otherwise, a stranger who repeats the request could receive the token before the
// administrator who writes the file. The index changes with each reset, so a file is valid once.

// bootstrapName names the tokens of bootstraps, as in Nomad.
const bootstrapName = "Bootstrap Token"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// BootstrapACL returns a new management token, if the caller is trusted and the reset file of this
// server has the reset index, or if a server that runs alone has no management token.
func (s *Server) BootstrapACL(ctx context.Context, secret string, trusted bool) (*api.ACLToken, uint64, error) {
	if !s.IsLeader() {
		return nil, 0, errNoLeader
	}
	if secret != "" && !uuid.MatchString(secret) {
		return nil, 0, api.Errorf(api.CodeInvalid, "BootstrapSecret: it is not a UUID in lower case, such as uuidgen prints; remove it, and the server chooses a secret")
	}
	v := s.store.Snapshot()
	index := resetIndex(v)
	switch {
	case index == 0 && !trusted:
		return nil, 0, api.Errorf(api.CodeForbidden, "bootstrap: only the user of the server's process, root, and the operator may do it: run it on the server's machine")
	case index != 0:
		if err := s.checkReset(index, trusted); err != nil {
			return nil, 0, err
		}
	}
	// Of several requests, the first changes the index.
	if trust := v.Trust(); trust != nil {
		if _, err := s.propose(ctx, state.PutTrust(trust, &trust.ModifyIndex)); api.CodeOf(err) == api.CodeConflict {
			return nil, 0, bootstrapped(resetIndex(s.store.Snapshot()), "another request came first")
		} else if err != nil {
			return nil, 0, err
		}
	}
	if index != 0 {
		if err := resetfile.Remove(s.cfg.DataDir); err != nil {
			s.cfg.Logger.Warn("cannot remove the file of a reset; its index is no longer valid", "error", err)
		}
	}
	token, written, err := s.createToken(ctx, &api.ACLToken{Name: bootstrapName, Type: api.ACLTokenManagement, Global: true}, secret)
	if err == nil {
		s.cfg.Logger.Warn("a bootstrap created a management token", "accessor", token.AccessorID)
	}
	return token, written, err
}

// resetIndex returns the number that a reset file must contain; 0: a server that runs alone and has no
// management token.
func resetIndex(v *state.Snapshot) (index uint64) {
	if trust := v.Trust(); trust != nil {
		return trust.ModifyIndex
	}
	for t := range v.ACLTokens("") {
		if t.Type == api.ACLTokenManagement {
			index = max(index, t.CreateIndex)
		}
	}
	return index
}

// checkReset returns an error unless the reset file permits another bootstrap.
func (s *Server) checkReset(index uint64, trusted bool) error {
	asked, err := resetfile.Read(s.cfg.DataDir)
	switch {
	case err != nil && trusted:
		return bootstrapped(index, fmt.Sprintf("the reset file was ignored: %v", err))
	case err != nil, asked == 0:
		return bootstrapped(index, "")
	case asked != index && trusted:
		return bootstrapped(index, fmt.Sprintf("the reset file was ignored: it contains %d", asked))
	case asked != index:
		return bootstrapped(index, "")
	case !trusted:
		return bootstrapped(index, "the reset must be requested by the user of the server's process, by root, or by the operator: run the command on the machine of the leader")
	}
	return nil
}

// bootstrapped returns the error of a bootstrap that is not permitted. Clients of Nomad search it for
// the reset index.
func bootstrapped(index uint64, why string) error {
	if why != "" {
		why = "; " + why
	}
	return api.Errorf(api.CodeInvalid, "ACL bootstrap already done (reset index: %d)%s; use the operator's token, which the first server wrote to operator.token in its data directory, or write the reset index to the file %s in the data directory of the leader and repeat the request there", index, why, resetfile.Path)
}
