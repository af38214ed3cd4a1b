// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// mostNamedServers bounds the addresses of one request, because the agent connects to each.
const mostNamedServers = 64

// setServers replaces the servers that a member knows, if all prove to be servers of its cluster.
func setServers(ctx context.Context, identity trust.Identity, addresses []string) error {
	if len(addresses) > mostNamedServers {
		return api.Errorf(api.CodeInvalid, "%d addresses of servers: name at most %d", len(addresses), mostNamedServers)
	}
	addresses = withPorts(addresses)
	ctx, cancel := context.WithTimeout(ctx, memberDialTimeout)
	defer cancel()
	wrong := make([]error, len(addresses))
	var asked sync.WaitGroup
	for i, address := range addresses {
		asked.Go(func() {
			if err := proveServer(ctx, identity, address); err != nil {
				wrong[i] = fmt.Errorf("%s: %w", api.Printable(address, 100), err)
			}
		})
	}
	asked.Wait()
	var problems []string
	for _, err := range wrong {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	if len(problems) > 0 {
		return api.Errorf(api.CodeInvalid, "no address was changed: %s; \"reeve server list\" shows the addresses of servers", strings.Join(problems, "; "))
	}
	if err := identity.SetServers(addresses); err != nil {
		return api.Errorf(api.CodeInvalid, "no address was changed: %v", err)
	}
	return nil
}

// proveServer connects to an address, and verifies that a server of the cluster answers.
func proveServer(ctx context.Context, identity trust.Identity, address string) error {
	if host, _, err := net.SplitHostPort(address); err != nil || host == "" {
		return errors.New("it is not HOST or HOST:PORT")
	}
	dialer := tls.Dialer{Config: identity.ClientConfig("http/1.1")}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot reach a server of this cluster: %w", err)
	}
	defer conn.Close()
	if who, ok := identity.Peer(conn.(*tls.Conn).ConnectionState()); !ok || who.Role != pki.RoleServer {
		return errors.New("the machine is no server of this cluster")
	}
	return nil
}
