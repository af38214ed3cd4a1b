// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/mholt/acmez/v3"
	protocol "github.com/mholt/acmez/v3/acme"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/router/variables"
)

// An authority signs certificates. present makes the routers answer a challenge.
type authority interface {
	obtain(ctx context.Context, vars variables.Client, domain string, present func(context.Context, challenge) error) (certPEM, keyPEM string, err error)
}

// settleTime lets other routers learn of a challenge before the authority asks: they follow the
// variable, and have a change within a fraction of a second, a new variable within two seconds.
const settleTime = 2 * time.Second

// A remote is an authority that speaks ACME.
type remote struct {
	config *Config
	settle time.Duration
	http   *http.Client

	mu      sync.Mutex // guards account
	account protocol.Account
}

func newRemote(c *Config) (*remote, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "router: acme: ca_file: %v", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, api.Errorf(api.CodeInvalid, "router: acme: ca_file %s contains no certificate in PEM: write the root certificates of the directory's server to it", c.CA)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &remote{config: c, settle: settleTime, http: &http.Client{Transport: t, Timeout: 30 * time.Second}}, nil
}

// obtain orders a certificate and answers the challenges.
func (r *remote) obtain(ctx context.Context, vars variables.Client, domain string, present func(context.Context, challenge) error) (certPEM, keyPEM string, err error) {
	c := acmez.Client{
		Client:           &protocol.Client{Directory: r.config.Directory, HTTPClient: r.http, UserAgent: "reeve"},
		ChallengeSolvers: map[string]acmez.Solver{},
	}
	for _, kind := range []string{HTTP01, TLSALPN01} {
		if r.config.enabled(kind) {
			c.ChallengeSolvers[kind] = solver{present, r.settle}
		}
	}
	account, err := r.register(ctx, c.Client, vars)
	if err != nil {
		return "", "", err
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return "", "", err
	}
	chains, err := c.ObtainCertificateForSANs(ctx, account, key, []string{domain})
	if err != nil {
		r.forget(err)
		return "", "", err
	}
	if len(chains) == 0 {
		return "", "", errors.New("it offers no certificate")
	}
	return string(chains[0].ChainPEM), keyPEM, nil
}

// register returns the account of all routers. Its key is stored before the first use, and
// registering a key again returns the same account, so routers that start together share one.
func (r *remote) register(ctx context.Context, c *protocol.Client, vars variables.Client) (protocol.Account, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.account.Status == protocol.StatusValid {
		return r.account, nil
	}
	key, err := r.accountKey(ctx, vars)
	if err != nil {
		return protocol.Account{}, err
	}
	asked := protocol.Account{TermsOfServiceAgreed: r.config.Agreed, PrivateKey: key}
	if r.config.Email != "" {
		asked.Contact = []string{"mailto:" + r.config.Email}
	}
	if r.account, err = c.NewAccount(ctx, asked); err != nil {
		return protocol.Account{}, fmt.Errorf("register an account: %w", err)
	}
	return r.account, nil
}

// forget makes the next order register again after an error about the account.
func (r *remote) forget(err error) {
	var problem protocol.Problem
	if errors.As(err, &problem) && (problem.Type == protocol.ProblemTypeAccountDoesNotExist || problem.Type == protocol.ProblemTypeUserActionRequired) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.account = protocol.Account{}
	}
}

// accountKey returns the key of the account, which it creates if it does not exist.
func (r *remote) accountKey(ctx context.Context, vars variables.Client) (crypto.Signer, error) {
	path := r.config.accountPath()
	for {
		v, _, err := vars.Get(ctx, path, nil)
		switch {
		case err == nil:
			key, err := parseKey(v.Items[certs.ItemKey])
			if err != nil {
				return nil, &localError{fmt.Errorf("variable %s has no usable key of an account: %w: delete it with: reeve var purge -namespace %s %s", path, err, r.config.Namespace, path)}
			}
			return key, nil
		case api.CodeOf(err) != api.CodeNotFound:
			return nil, &localError{err}
		}
		_, keyPEM, err := newKey()
		if err != nil {
			return nil, err
		}
		fresh := &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: map[string]string{certs.ItemKey: keyPEM}}
		if _, err := vars.PutAt(ctx, fresh, 0); err != nil && api.CodeOf(err) != api.CodeConflict {
			return nil, &localError{err}
		}
	}
}

// A localError is an error of the cluster's variables, not of the authority.
type localError struct{ error }

func (e *localError) Unwrap() error { return e.error }

func newKey() (*ecdsa.PrivateKey, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, "", err
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

func parseKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("item key is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("item key is no private key")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("item key cannot sign")
	}
	return signer, nil
}

// A solver publishes challenges to all routers.
type solver struct {
	present func(context.Context, challenge) error
	settle  time.Duration
}

// Present implements acmez.Solver.
func (s solver) Present(ctx context.Context, c protocol.Challenge) error {
	if err := s.present(ctx, challenge{c.Type, c.Token, c.KeyAuthorization}); err != nil {
		return &localError{err}
	}
	return nil
}

// Wait implements acmez.Waiter.
func (s solver) Wait(ctx context.Context, _ protocol.Challenge) error {
	timer := time.NewTimer(s.settle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// CleanUp implements acmez.Solver. The end of the order removes the challenge.
func (s solver) CleanUp(context.Context, protocol.Challenge) error { return nil }
