// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"fmt"
	"net"
	"path/filepath"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// SocketName is the name of the socket of the API in a task's directory of secrets.
const SocketName = "api.sock"

// Listen creates the socket of the API for a task and the user that runs it. It replaces what has the
// name: the socket of an earlier agent, or what the task put in its place. Links of the task
// redirect nothing.
func (t *Tree) Listen(alloc, task string, owner Owner) (net.Listener, error) {
	t.writes <- struct{}{}
	defer func() { <-t.writes }()
	if err := t.CheckMount(alloc, task); err != nil {
		return nil, fmt.Errorf("create the socket of the API: %w", err)
	}
	above, name := filepath.Split(t.Task(alloc, task).Secrets)
	root, err := beneath.Open(above)
	if err != nil {
		return nil, fmt.Errorf("create the socket of the API: %w", err)
	}
	defer root.Close()
	dir, err := root.Dir(name)
	if err != nil {
		return nil, fmt.Errorf("create the socket of the API: %w", err)
	}
	defer dir.Close()
	uid, gid := -1, -1
	if owner.set {
		uid, gid = owner.uid, owner.gid
	}
	l, err := dir.Listen(SocketName, uid, gid)
	if err != nil {
		return nil, err
	}
	return l, nil
}
