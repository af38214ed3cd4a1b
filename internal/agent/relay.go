// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/port"
	"github.com/reeve-run/reeve/internal/relay"
)

// relayKeepAlive is the interval of the kernel's probes of a connection for writes.
const relayKeepAlive = 15 * time.Second

// newRelay returns the client that sends writes to the leader.
func (a *Agent) newRelay() *relay.Client {
	dialer := &tls.Dialer{Config: a.trust.ClientConfig(port.Relay), NetDialer: &net.Dialer{Timeout: memberDialTimeout, KeepAlive: relayKeepAlive}}
	return relay.NewClient(func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil && strings.Contains(err.Error(), noProtocol) {
			return nil, fmt.Errorf("%w: %w", relay.ErrUnsupported, err)
		}
		return conn, err
	})
}

// relayed returns the listener of the connections on which other servers send writes.
func (a *Agent) relayed() net.Listener {
	return &servers{Listener: a.port.Stream(port.Relay), admits: func(state tls.ConnectionState) bool {
		who, ok := a.trust.Peer(state)
		return ok && who.Role == pki.RoleServer && !a.server.IsRevoked(who.ID)
	}}
}
