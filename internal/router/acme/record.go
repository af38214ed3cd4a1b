// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/internal/router/certs"
)

// A record is the content of a domain's variable.
type record struct {
	certificate, key string // PEM
	challenge        challenge
	failure          string // of the last attempt, in words; "": it succeeded
	attempts         int    // failures in a row
	retryAt          time.Time
}

// A challenge is the proof that an authority wants to see.
type challenge struct {
	kind, token, answer string
}

// Items of a domain's variable besides those of a certificate.
const (
	itemKind     = "challenge_type"
	itemToken    = "challenge_token"
	itemAnswer   = "challenge_answer"
	itemFailure  = "failure"
	itemAttempts = "attempts"
	itemRetry    = "retry_at"
)

// recordOf reads items. A time of the next attempt that is no time means now: operators write it.
func recordOf(items map[string]string) record {
	r := record{
		certificate: items[certs.ItemCertificate], key: items[certs.ItemKey], failure: items[itemFailure],
		challenge: challenge{items[itemKind], items[itemToken], items[itemAnswer]},
	}
	r.attempts, _ = strconv.Atoi(items[itemAttempts])
	r.retryAt, _ = time.Parse(time.RFC3339, items[itemRetry])
	return r
}

// items returns the content of the variable.
func (r *record) items() map[string]string {
	items := map[string]string{}
	for key, text := range map[string]string{
		certs.ItemCertificate: r.certificate, certs.ItemKey: r.key, itemFailure: r.failure,
		itemKind: r.challenge.kind, itemToken: r.challenge.token, itemAnswer: r.challenge.answer,
	} {
		if text != "" {
			items[key] = text
		}
	}
	if r.failure != "" {
		items[itemAttempts], items[itemRetry] = strconv.Itoa(r.attempts), r.retryAt.UTC().Format(time.RFC3339)
	}
	if len(items) == 0 {
		items[itemAttempts] = "0" // a variable has at least one key
	}
	return items
}

// longestRetry bounds the time of the next attempt, which anyone who may write the variable sets.
const longestRetry = 24 * time.Hour

// due returns the time of the next order for a domain: immediately without a usable certificate,
// otherwise after two thirds of its life, and not before the pause after a failure has passed.
func (r *record) due(domain string, now time.Time) time.Time {
	at := now
	if leaf, err := r.leaf(domain, now); err == nil {
		life := leaf.NotAfter.Sub(leaf.NotBefore)
		at = leaf.NotBefore.Add(life*2/3 - spread(domain, life/30))
	}
	if r.retryAt.After(at) && r.retryAt.Before(now.Add(longestRetry)) {
		at = r.retryAt
	}
	return at
}

// leaf returns the certificate, or why it is unusable for the domain.
func (r *record) leaf(domain string, now time.Time) (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(r.certificate))
	if block == nil || r.key == "" {
		return nil, errors.New("the variable has no certificate yet")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return nil, err
	case len(leaf.DNSNames) != 1 || leaf.DNSNames[0] != domain || len(leaf.IPAddresses) > 0:
		return nil, fmt.Errorf("the certificate in the variable is not for %s alone", domain)
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return leaf, nil
}

// spread returns a duration below a limit that depends on the domain, so that certificates that
// were ordered together are not renewed together.
func spread(domain string, limit time.Duration) time.Duration {
	sum := sha256.Sum256([]byte(domain))
	if limit <= 0 {
		return 0
	}
	return time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(limit))
}
