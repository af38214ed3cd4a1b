// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net/http"
)

// A TaskAddr is the other end of a connection on the socket that an agent keeps for one task:
// "task ALLOC/TASK". Requests of such connections always need a token. The user of the process does not
// count: tasks may run as root.
type TaskAddr string

// Network implements net.Addr.
func (a TaskAddr) Network() string { return "unix" }

// String implements net.Addr.
func (a TaskAddr) String() string { return string(a) }

// IsTask reports whether a request arrived on the socket of a task.
func IsTask(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return false
	}
	_, ok = c.remote.(TaskAddr)
	return ok
}

// taskCaller returns the caller of a request on the socket of a task.
func (d *Door) taskCaller(r *http.Request) (Caller, error) {
	switch {
	case !hasToken(r.Header):
		return reject("requests on the socket of a task need a token: pass that of the task's identity, as in: curl --unix-socket $NOMAD_SECRETS_DIR/api.sock -H \"Authorization: Bearer $NOMAD_TOKEN\" localhost/v1/vars")
	case d.IsOperator == nil && d.Peer == nil && !d.hasAgentToken(r.Header):
		return reject("this agent cannot check the token of this request: it belongs to no cluster, and runs no server")
	}
	return d.bearer(r, "")
}
