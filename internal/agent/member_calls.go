// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// asMember calls the servers as this member, one after the other, until one answers.
func (a *Agent) asMember(ctx context.Context, call func(context.Context, *client.Client) error) error {
	m, _ := a.trust.Member()
	addresses := m.Servers
	for _, host := range a.config.Join {
		addresses = append(addresses, withPort(host, DefaultPort))
	}
	// This server comes last: after a move, the others know the leader and it does not.
	addresses = slices.DeleteFunc(addresses, func(address string) bool { return address == a.advertise })
	if a.server != nil {
		addresses = append(addresses, net.JoinHostPort(a.localHost(), a.portNumber()))
	}
	var errs []error
	for i, address := range addresses {
		if slices.Contains(addresses[:i], address) {
			continue
		}
		cl, err := clientOver(address, a.trust.ClientConfig("h2", "http/1.1"))
		if err == nil {
			attempt, cancel := context.WithTimeout(ctx, joinTimeout)
			err = call(attempt, cl)
			cancel()
			cl.Close()
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return errors.New("no server is known")
	}
	return errors.Join(errs...)
}

// renew asks the servers for a new certificate.
func (a *Agent) renew(ctx context.Context, csr []byte) (certificate, roots []byte, err error) {
	err = a.asMember(ctx, func(ctx context.Context, cl *client.Client) error {
		answer, err := cl.Cluster().Renew(ctx, &api.RenewRequest{CSR: string(csr)})
		if err == nil {
			certificate, roots = []byte(answer.Certificate), []byte(answer.Roots)
		}
		return err
	})
	return certificate, roots, err
}

// announce tells the cluster where this server is, and of which version, until a leader has
// recorded it: both may have changed while the agent was stopped.
func (a *Agent) announce(ctx context.Context) {
	request := &api.AnnounceRequest{Name: a.config.Name, Address: a.advertise, Version: a.config.Version, Datacenter: a.config.Datacenter}
	for wait := joinAgain; ; wait = min(2*wait, joinAgainMost) {
		err := a.asMember(ctx, func(ctx context.Context, cl *client.Client) error { return cl.Cluster().Announce(ctx, request) })
		if err == nil || ctx.Err() != nil {
			return
		}
		if wait == joinAgainMost {
			a.log.Warn("cannot announce this server to the leader", "address", a.advertise, "error", err, "next_attempt", wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
