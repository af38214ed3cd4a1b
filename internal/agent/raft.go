// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/port"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/replica"
)

// raftTransport returns the transport between this server and the others, over the agent's
// port. known holds the server as soon as it exists.
func (a *Agent) raftTransport(known *atomic.Pointer[server.Server]) raft.Transport {
	dialer := &tls.Dialer{Config: a.trust.ClientConfig(port.Raft)}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", address)
	}
	// The newest address of a server: it may have moved since it was added to the log.
	addresses := func(id string) string {
		if s := known.Load(); s != nil {
			if found := s.Store().Snapshot().Server(id); found != nil {
				return found.Address
			}
		}
		return ""
	}
	listener := &servers{Listener: a.port.Stream(port.Raft), admits: func(state tls.ConnectionState) bool {
		who, ok := a.trust.Peer(state)
		if !ok || who.Role != pki.RoleServer {
			return false
		}
		s := known.Load()
		return s == nil || !s.IsRevoked(who.ID)
	}}
	return replica.NewTransport(listener, dial, a.advertise, addresses, a.log)
}

// A servers listener accepts connections of servers only.
type servers struct {
	net.Listener
	admits func(tls.ConnectionState) bool
}

func (l *servers) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c, ok := conn.(*tls.Conn); ok && l.admits(c.ConnectionState()) {
			return conn, nil
		}
		conn.Close()
	}
}
