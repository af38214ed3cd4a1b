// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/secretfile"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/trust"
)

const (
	joinTimeout   = 15 * time.Second // of one attempt at one host
	joinAgain     = time.Second      // before the second round of attempts
	joinAgainMost = 30 * time.Second
)

// join makes this machine a member, and tries again until a server answers. The listener
// serves already, because the servers connect back to a new server.
func (a *Agent) join(ctx context.Context) error {
	text := a.config.JoinToken
	if a.config.JoinTokenFile != "" {
		var err error
		if text, err = secretfile.ReadToken(a.config.JoinTokenFile, os.Stdin); err != nil {
			return api.Errorf(api.CodeInvalid, "join: %v; name a file with the token of \"reeve cluster token show\"", err)
		}
	}
	token, err := pki.ParseToken(text)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: %v; pass the join token as REEVE_JOIN_TOKEN, or name its file with -join-token-file", err)
	}
	role := a.config.role()
	switch {
	case token.Kind == pki.OperatorToken:
		return api.Errorf(api.CodeInvalid, "join: this is an operator's token, which admits no machines: show a join token on a server with: reeve cluster token show")
	case role == pki.RoleServer && token.Kind != pki.ServerToken:
		return api.Errorf(api.CodeInvalid, "join: this is a token for nodes, and this agent is to be a server: show the other token on a server with: reeve cluster token show server")
	case role == pki.RoleNode && token.Kind != pki.NodeToken && token.Kind != pki.IntroductionToken:
		return api.Errorf(api.CodeInvalid, "join: this is a token for servers, and this agent is to be a node: use the token of: reeve cluster token show node")
	}
	if err := a.checkIntroduction(token); err != nil {
		return err
	}
	for wait := joinAgain; ; wait = min(2*wait, joinAgainMost) {
		err := a.joinAny(ctx, token)
		if err == nil || !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		a.log.Warn("cannot join yet", "error", err, "next_attempt", wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// checkDirectory refuses a data directory with the state of an agent that ran alone, or of
// another cluster.
func (a *Agent) checkDirectory() error {
	for _, name := range []string{"server", "node"} {
		dir := filepath.Join(a.config.DataDir, name)
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return api.Errorf(api.CodeInvalid, "%s holds the state of an agent that was no member of this cluster: choose an empty data directory, or move this one away; to found a cluster with this state, start the agent with -bootstrap instead of -join; reeve operator snapshot save and restore carry jobs over", dir)
		}
	}
	return nil
}

// isTemporary reports whether another attempt may succeed without a change by a person.
func isTemporary(err error) bool {
	var e *api.Error
	return !errors.As(err, &e) || e.Code == api.CodeUnavailable || e.Code == api.CodeInternal
}

// joinAny joins through the first host that answers.
func (a *Agent) joinAny(ctx context.Context, token pki.Token) error {
	var errs []error
	for _, host := range a.config.Join {
		err := a.joinThrough(ctx, withPort(host, DefaultPort), token)
		if err == nil || !isTemporary(err) {
			return err
		}
		errs = append(errs, fmt.Errorf("%s: %w", host, err))
	}
	return errors.Join(errs...)
}

func (a *Agent) joinThrough(ctx context.Context, address string, token pki.Token) error {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	ca, err := fetchCA(ctx, address)
	if err != nil {
		return err
	}
	roots, err := pinned(address, ca, token.Digest)
	if err != nil {
		return err
	}
	advertise, err := advertised(a.config.Advertise, a.Addr(), address)
	if err != nil {
		return err
	}
	member := trust.Member{ID: api.NewID(), Role: a.config.role()}
	if prepared := a.store.PreparedID(); prepared != "" {
		member.ID = prepared
	}
	csr, sealKey, err := a.store.Prepare(member.ID)
	if err != nil {
		return err
	}
	request := &api.JoinRequest{
		Token: token.String(), CSR: string(csr), Name: a.config.Name, Address: advertise, Version: a.config.Version,
		Region: a.config.Region, Datacenter: a.config.Datacenter, Time: time.Now().UnixNano(),
	}
	if member.Role == pki.RoleServer {
		request.ID, request.SealKey, request.Level = member.ID, sealKey, state.Level
	}
	cl, err := clientOver(address, trust.UserConfig(roots, "h2", "http/1.1"))
	if err != nil {
		return err
	}
	defer cl.Close()
	answer, err := cl.Cluster().Join(ctx, request)
	if err != nil {
		return early(err, address)
	}
	member.ID, member.ClusterID, member.Servers = answer.ID, answer.ClusterID, answer.Servers
	member.NodePool, member.NodeName = answer.NodePool, answer.NodeName
	if err := a.store.Enter(member, []byte(answer.Certificate), []byte(answer.Roots)); err != nil {
		return err
	}
	a.log.Info("joined the cluster", "cluster", answer.ClusterID, "id", answer.ID, "role", member.Role, "address", advertise, "servers", answer.Servers)
	return nil
}

// early explains the certificate of a server that is not valid yet. Another attempt with the same
// clock fails too.
func early(err error, address string) error {
	var no *client.NoAnswer
	var refused *pki.CertificateError
	if !errors.As(err, &no) || !errors.As(no.Source(), &refused) || refused.Reason != pki.ReasonEarly {
		return err
	}
	return api.Errorf(api.CodeInvalid, "join: the certificate of the server at %s is not valid yet by the clock of this machine, which is at least %s behind the clock that the server had; set the clocks, for example with NTP, and join again", address, refused.Skew.Round(time.Second))
}

// fetchCA asks a host for the roots of its cluster. Its answer is not verified yet.
func fetchCA(ctx context.Context, address string) (*api.ClusterCA, error) {
	cl, err := clientOver(address, trust.UnverifiedConfig("h2", "http/1.1")) // pinned verifies the roots
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	return cl.Cluster().CA(ctx)
}

// pinned returns the root that a token names.
func pinned(address string, ca *api.ClusterCA, digest string) (*pki.Roots, error) {
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "join: the server at %s sent no valid root certificates: %v", address, err)
	}
	only, ok := roots.Pin(digest)
	if !ok {
		return nil, api.Errorf(api.CodeInvalid, "join: the server at %s belongs to another cluster than the token, or another machine answers in its place: check the address, and compare the token with: reeve cluster token show", address)
	}
	return only, nil
}

// clientOver returns a client of the API at an address.
func clientOver(address string, config *tls.Config) (*client.Client, error) {
	return client.New(client.Config{
		Address: "https://" + address,
		HTTPClient: &http.Client{Transport: &http.Transport{
			TLSClientConfig: config, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, IdleConnTimeout: time.Minute,
		}},
	})
}
