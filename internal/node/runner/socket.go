// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
)

// openSocket creates the socket on which a task with an identity uses the API, in place of an
// earlier one. Only the goroutine of the task's loop calls it.
func (t *task) openSocket(a *api.Allocation, s *api.Task, owner allocdir.Owner) error {
	t.closeSocket()
	if t.r.host.Serve == nil || !s.UsesAPI() {
		return nil
	}
	l, err := t.r.host.Dirs.Listen(a.ID, s.Name, owner)
	if err != nil {
		return err
	}
	t.socket = t.r.host.Serve(a.ID, s.Name, l)
	return nil
}

// adoptSocket creates the socket anew for a run that an earlier agent started.
func (t *task) adoptSocket() {
	t.r.mu.Lock()
	a, s := t.r.alloc, t.spec
	t.r.mu.Unlock()
	owner, err := allocdir.OwnerOf(ownerName(s))
	if err == nil {
		err = t.openSocket(a, s, owner)
	}
	if err != nil {
		t.say("Cannot use the API on its socket: %v", err)
	}
}

// closeSocket ends the connections of the task's socket.
func (t *task) closeSocket() {
	if t.socket != nil {
		t.socket()
		t.socket = nil
	}
}
