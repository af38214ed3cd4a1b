// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"crypto/sha256"
	"crypto/x509"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// peers caches the identities of verified chains: servers ask for the peer of every request.
// A change of the roots starts with an empty cache.
type peers struct {
	mu     sync.Mutex
	known  map[[sha256.Size]byte]pki.Identity
	warned map[string]time.Time // last warning about the expired certificate of a member
}

// maxPeers bounds the cache. A full cache starts again: peers are few, and verification is
// cheap.
const maxPeers = 1 << 14

func newPeers() *peers {
	return &peers{known: map[[sha256.Size]byte]pki.Identity{}, warned: map[string]time.Time{}}
}

// identify returns the member of a chain.
func (p *peers) identify(roots *pki.Roots, chain []*x509.Certificate, now time.Time) (pki.Identity, error) {
	hash := sha256.New()
	for _, c := range chain {
		_, _ = hash.Write(c.Raw) // it never fails
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
	p.mu.Lock()
	id, ok := p.known[sum]
	p.mu.Unlock()
	if ok && !now.Before(id.NotBefore) {
		id.Expired = now.After(id.NotAfter)
		return id, nil
	}
	id, err := roots.Identify(chain, now)
	if err != nil {
		return id, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxPeers {
		clear(p.known)
	}
	p.known[sum] = id
	return id, nil
}

// remind reports whether a warning about the expired certificate of a member is due: one an
// hour.
func (p *peers) remind(id pki.Identity, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.warned[id.ID]; !id.Expired || ok && now.Sub(last) < time.Hour {
		return false
	}
	if len(p.warned) >= maxPeers {
		clear(p.warned)
	}
	p.warned[id.ID] = now
	return true
}
