// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/reeve-run/reeve/api"
)

const (
	keysFresh   = 5 * time.Minute  // a provider may withdraw a key: they are fetched again after this time
	keysStale   = time.Hour        // keys that cannot be fetched again are used for this time
	keysPause   = 10 * time.Second // between two fetches, whatever tokens ask for
	mostKeys    = 100
	minRSA      = 2048 // bits
	maxRSA      = 8192 // bits: larger keys cost much to verify with
	mostPerName = 8    // keys that are tried for one token
)

// keys finds the keys with which a token may be signed.
type keys interface {
	find(ctx context.Context, kid, alg string, now time.Time) ([]any, error)
}

// staticKeys are those of the method.
type staticKeys []any

func (s staticKeys) find(_ context.Context, _, alg string, _ time.Time) (found []any, err error) {
	for _, key := range s {
		if fits(key, alg) {
			found = append(found, key)
		}
	}
	return found, nil
}

// parseKeys reads public keys and certificates in PEM.
func parseKeys(texts []string) (staticKeys, error) {
	var all staticKeys
	for i, text := range texts {
		block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
		if block == nil || len(rest) > 0 {
			return nil, api.Errorf(api.CodeInvalid, "JWTValidationPubKeys: entry %d is not one public key in PEM", i+1)
		}
		key, err := publicKey(block)
		if err == nil {
			err = checkKey(key)
		}
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "JWTValidationPubKeys: entry %d: %v", i+1, err)
		}
		all = append(all, key)
	}
	return all, nil
}

func publicKey(block *pem.Block) (any, error) {
	switch block.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return c.PublicKey, nil
	}
	return nil, fmt.Errorf("a block %q is not a public key; use PUBLIC KEY, as openssl pkey -pubout writes it", block.Type)
}

// checkKey returns an error if no accepted algorithm uses the key.
func checkKey(key any) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < minRSA || n > maxRSA {
			return fmt.Errorf("an RSA key has %d bits; use %d to %d", n, minRSA, maxRSA)
		}
		return nil
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return nil
	}
	return fmt.Errorf("a key of type %T is not supported; use the public part of RSA, ECDSA or Ed25519", key)
}

// fits reports whether an algorithm uses keys of this type.
func fits(key any, alg string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ES")
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// remoteKeys are those of a JSON Web Key Set. A token with an unknown key id has the set fetched again,
// because the provider may have rotated its keys, but not more often than keysPause.
type remoteKeys struct {
	fetch *fetcher
	url   func(context.Context, time.Time) (string, error)

	mu      sync.Mutex // held during a fetch, which has a time limit: others want its result
	all     []namedKey
	fetched time.Time // of all
	tried   time.Time
	err     error // of the last fetch
}

type namedKey struct {
	kid, alg string
	key      any
}

func (r *remoteKeys) find(ctx context.Context, kid, alg string, now time.Time) ([]any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.matching(kid, alg)
	if len(found) > 0 && now.Sub(r.fetched) < keysFresh {
		return found, nil
	}
	if r.tried.IsZero() || now.Sub(r.tried) >= keysPause {
		r.tried = now
		r.err = r.load(ctx, now)
		found = r.matching(kid, alg)
	}
	if r.err != nil && (len(found) == 0 || now.Sub(r.fetched) >= keysStale) {
		return nil, api.Errorf(api.CodeUnavailable, "the keys of the identity provider cannot be fetched: %v; try again, and ask an administrator of the cluster if it lasts", r.err)
	}
	return found, nil
}

// load fetches the set.
func (r *remoteKeys) load(ctx context.Context, now time.Time) error {
	url, err := r.url(ctx, now)
	if err != nil {
		return err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := r.fetch.get(ctx, url, &set); err != nil {
		return err
	}
	if len(set.Keys) > mostKeys {
		return fmt.Errorf("the key set has %d keys; at most %d are read", len(set.Keys), mostKeys)
	}
	r.all, r.fetched = nil, now
	for _, text := range set.Keys {
		var k jose.JSONWebKey
		// Sets contain keys of other uses and types, which concern others.
		if k.UnmarshalJSON(text) == nil && k.Use != "enc" && checkKey(k.Key) == nil {
			r.all = append(r.all, namedKey{k.KeyID, k.Algorithm, k.Key})
		}
	}
	return nil
}

// matching returns the keys that a token with a key id names. A token without one could be signed with
// any key.
func (r *remoteKeys) matching(kid, alg string) (found []any) {
	for _, k := range r.all {
		if (kid == "" || k.kid == "" || k.kid == kid) && (k.alg == "" || k.alg == alg) && fits(k.key, alg) && len(found) < mostPerName {
			found = append(found, k.key)
		}
	}
	return found
}
