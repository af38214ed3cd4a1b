// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/state"
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
		if isRemoval(err) { // the others say the same, or do not know it yet
			break
		}
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

// announcement returns what the cluster records of this server.
func (a *Agent) announcement() *api.AnnounceRequest {
	r := &api.AnnounceRequest{Name: a.config.Name, Address: a.advertise, Version: a.config.Version, Datacenter: a.config.Datacenter, Level: state.Level}
	if a.external != nil {
		r.Issued, r.Expires = a.external.Issued().UnixNano(), a.external.Expires().UnixNano()
		if public, err := a.external.SealPublic(); err == nil {
			r.SealKey = public
		}
	}
	return r
}

// announceCertificate tells the cluster the validity of a server's new certificate from files.
func (a *Agent) announceCertificate(ctx context.Context) {
	last := a.announced.Load()
	if a.server == nil || last == 0 || last == a.external.Expires().UnixNano() {
		return
	}
	request := a.announcement()
	if err := a.asMember(ctx, func(ctx context.Context, cl *client.Client) error { return cl.Cluster().Announce(ctx, request) }); err == nil {
		a.announced.Store(request.Expires)
	}
}

// announce tells the cluster where this server is, and of which version, whenever the state
// does not say so: both may have changed while the agent was stopped, and a leader of an
// earlier version does not record the feature level.
func (a *Agent) announce(ctx context.Context) {
	request := a.announcement()
	for a.announceOnce(ctx, request) && a.awaitForgotten(ctx, a.server.Leader()) {
	}
}

// wasRemoved is in the error of every request of a member that was removed.
const wasRemoved = "was removed from the cluster"

func isRemoval(err error) bool {
	return api.CodeOf(err) == api.CodeForbidden && strings.Contains(err.Error(), wasRemoved)
}

// announceOnce tries until a leader has accepted the request. It returns false if ctx ends.
func (a *Agent) announceOnce(ctx context.Context, request *api.AnnounceRequest) bool {
	said := ""
	for wait := joinAgain; ; wait = min(2*wait, joinAgainMost) {
		err := a.asMember(ctx, func(ctx context.Context, cl *client.Client) error { return cl.Cluster().Announce(ctx, request) })
		if err == nil || ctx.Err() != nil {
			a.announced.Store(request.Expires)
			return err == nil
		}
		if api.CodeOf(err) == api.CodeConflict {
			a.end(err)
			return false
		}
		if isRemoval(err) {
			a.server.Replica().MarkRemoved()
		}
		if permanent := !isTemporary(err) && err.Error() != said; permanent || wait == joinAgainMost {
			said = err.Error()
			a.log.Warn("the other servers do not accept this server", "address", a.advertise, "error", err, "next_attempt", wait)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

const (
	forgottenCheck = 2 * time.Second
	forgottenAgain = 30 * time.Second
	leaderless     = 5 * time.Second
)

// end ends the agent with an error.
func (a *Agent) end(err error) {
	select {
	case a.broken <- err:
	default: // it ends because of another one
	}
}

// awaitForgotten waits until this server has to announce itself again: the state lacks its
// feature level, and another server leads than the one that was told, or some time passed; or it
// hears of no leader, perhaps because it was removed. It returns false if ctx ends.
func (a *Agent) awaitForgotten(ctx context.Context, told string) bool {
	tick := time.NewTicker(forgottenCheck)
	defer tick.Stop()
	m, _ := a.trust.Member()
	for last, led := time.Now(), time.Now(); ; {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		leader := a.server.Leader()
		if leader == "" {
			if time.Since(led) > leaderless {
				return true
			}
			continue
		}
		led = time.Now()
		known := a.server.Store().Snapshot().Server(m.ID)
		if known == nil || known.Level >= state.Level || leader == told && time.Since(last) < forgottenAgain {
			continue
		}
		return true
	}
}
