// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// servers holds the servers of a cluster with a certificate authority, ordered by id.
var servers = declare(noun[api.Server]{
	name: "servers", singular: "server", verb: "Server", frame: 20,
	key:   func(s *api.Server) string { return s.ID },
	stamp: func(s *api.Server) (create, modify *uint64) { return &s.CreateIndex, &s.ModifyIndex },
	admit: admitServer,
})

// revocations holds the members that were excluded, ordered by id.
var revocations = declare(noun[api.Revocation]{
	name: "revocations", singular: "revocation", verb: "Revocation", frame: 21,
	key:   func(r *api.Revocation) string { return r.ID },
	stamp: func(r *api.Revocation) (create, modify *uint64) { return &r.CreateIndex, &r.ModifyIndex },
})

// Tables of servers and of revocations: *api.Server, *api.Revocation.
var (
	TableServers     = servers.table
	TableRevocations = revocations.table
)

// Server returns the server with that id, nil if it does not exist.
func (c *content) Server(id string) *api.Server { return servers.find(c, id) }

// Servers yields the servers, ordered by id.
func (c *content) Servers() iter.Seq[*api.Server] { return servers.all(c, "") }

// Revocation returns why a member was excluded, nil if it was not.
func (c *content) Revocation(id string) *api.Revocation { return revocations.find(c, id) }

// Revocations yields the excluded members, ordered by id.
func (c *content) Revocations() iter.Seq[*api.Revocation] { return revocations.all(c, "") }

// PutServer returns the command that stores a server, new or changed. enforce is the modify
// index that the stored server must have; 0: it must not exist.
func PutServer(s *api.Server, enforce *uint64) Command {
	return &putObject[api.Server]{servers, s, enforce}
}

// admitServer rejects a server that was excluded, and the address of another server.
func admitServer(all *noun[api.Server], c *content, _, new *api.Server) error {
	if new == nil {
		return nil
	}
	if r := revocations.find(c, new.ID); r != nil {
		return RevokedError(r)
	}
	for other := range all.all(c, "") {
		if other.ID != new.ID && other.Address == new.Address {
			return api.Errorf(api.CodeConflict, "address %s belongs to server %s (%s): give this server another address with -advertise, or remove the other with: reeve server remove %s",
				new.Address, other.Name, api.ShortID(other.ID), api.ShortID(other.ID))
		}
	}
	return nil
}

// RevokedError is the answer to a member that was excluded.
func RevokedError(r *api.Revocation) error {
	return api.Errorf(api.CodeForbidden, "member %s was removed from the cluster (%s): to add this machine again, stop its agent, delete the folder identity in its data directory, and join with a token",
		api.ShortID(r.ID), r.Reason)
}

// RevokeMember excludes a member permanently, and forgets it if it is a server.
type RevokeMember struct {
	ID, Member, Reason string
	Time               int64
}

// Name implements Command.
func (c *RevokeMember) Name() string { return "RevokeMember" }

func (c *RevokeMember) encode() *wire.Command { return documentCommand(c) }

func (c *RevokeMember) apply(t *txn) error {
	if c.ID == "" {
		return api.Errorf(api.CodeInvalid, "name the member to remove by its id")
	}
	if revocations.find(t.content, c.ID) != nil {
		return nil
	}
	name := c.Member
	if s := t.Server(c.ID); s != nil {
		name = s.Name
		servers.delete(t, c.ID)
	}
	revocations.put(t, &api.Revocation{ID: c.ID, Name: name, Time: c.Time, Reason: c.Reason})
	return nil
}
