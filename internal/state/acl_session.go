// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// maxSessions bounds the sessions of one token.
const maxSessions = 64

// admitSession rejects sessions of the web UI whose creator was deleted meanwhile, or is a session itself:
// it would outlive its own limit.
func admitSession(all *noun[ACLToken], c *content, old, new *ACLToken) error {
	switch {
	case old != nil && (!old.Session || !new.Session || old.Creator != new.Creator || old.Type != new.Type):
		return api.Errorf(api.CodeInvalid, "a session keeps its creator and its type, and a token does not become one")
	case new.ExpirationTime == nil, new.Namespace != "", len(new.Policies)+len(new.Roles)+len(new.Further) > 0:
		return api.Errorf(api.CodeInvalid, "a session expires, and has neither a namespace nor policies or roles")
	case new.Creator == "" && new.Type != api.ACLTokenManagement:
		return api.Errorf(api.CodeInvalid, "a session without a creator is one of an operator")
	case new.Creator == "":
		return nil
	}
	creator := all.find(c, new.Creator)
	switch {
	case creator == nil:
		return api.Errorf(api.CodeForbidden, "the token of the session was deleted: log in again")
	case creator.Session:
		return api.Errorf(api.CodeInvalid, "a session cannot create another one: run `reeve ui` again")
	case old == nil && c.countSessions(all, new.Creator) >= maxSessions:
		return api.Errorf(api.CodeConflict, "the token has %d sessions of the web UI already, which is the maximum: close some, or wait until they expire", maxSessions)
	}
	return nil
}

func (c *content) countSessions(all *noun[ACLToken], creator string) (n int) {
	for t := range all.ofGroup(c, groupOfCreator+creator) {
		if t.Session {
			n++
		}
	}
	return n
}
