// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// A Source names the files of one certificate.
type Source struct {
	Cert string // the certificate, then its intermediate authorities
	Key  string // its private key
}

func (s Source) String() string { return s.Cert }

// A Store holds certificates. Its methods may be called concurrently.
type Store struct {
	log    *slog.Logger
	byName atomic.Pointer[map[string][]*certificate]

	mu    sync.Mutex // guards slots
	slots []*slot
}

// A slot is a source with its last good certificate.
type slot struct {
	source  Source
	current *certificate // nil: none was usable yet
	seen    [2]secretfile.Version
	read    time.Time // time of the last attempt to read the files
	failure error     // of that attempt
}

const (
	checkFiles = 2 * time.Second  // time between two looks for changes
	retryFiles = 30 * time.Second // time between attempts to read files that are unusable
)

// New reads the certificates. An unusable one stays without effect until its files change.
func New(sources []Source, log *slog.Logger) *Store {
	s := &Store{log: log}
	for _, source := range sources {
		s.slots = append(s.slots, &slot{source: source})
	}
	s.byName.Store(&map[string][]*certificate{})
	s.Reload(time.Now())
	return s
}

// Run follows the files until the context ends.
func (s *Store) Run(ctx context.Context) {
	tick := time.NewTicker(checkFiles)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.Reload(now)
		}
	}
}

// Reload reads the files that changed, and those that were unusable a while ago. Handshakes
// continue meanwhile.
func (s *Store) Reload(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, l := range s.slots {
		changed = l.reload(now, s.log) || changed
	}
	if !changed {
		return
	}
	byName := map[string][]*certificate{}
	for _, l := range s.slots {
		if l.current == nil {
			continue
		}
		for _, name := range l.current.names {
			byName[name] = append(byName[name], l.current)
		}
	}
	s.byName.Store(&byName)
}

// reload reports whether the slot has another certificate now.
func (l *slot) reload(now time.Time, log *slog.Logger) bool {
	found := l.versions()
	fresh := found != l.seen || l.read.IsZero()
	if !fresh && (l.failure == nil || now.Sub(l.read) < retryFiles) {
		return false
	}
	next, err := load(l.source, now)
	if found != l.versions() {
		return false // they are being written
	}
	before := l.failure
	l.seen, l.read, l.failure = found, now, err
	if err != nil {
		if fresh || before == nil || before.Error() != err.Error() {
			log.Error("a certificate of the router is not used: the router keeps the last good one", "error", err, "has_one", l.current != nil)
		}
		return false
	}
	if l.current != nil && l.current.equal(next) {
		return false
	}
	l.current = next
	log.Info("the router uses a certificate", "names", next.names, "source", l.source.String(), "expires", next.expires)
	return true
}

func (l *slot) versions() [2]secretfile.Version {
	return [2]secretfile.Version{secretfile.VersionOf(l.source.Cert), secretfile.VersionOf(l.source.Key)}
}

// For returns the certificate for a handshake, or nil. The name itself precedes its wildcard.
// A client that asks for no name wants the address that it connected to. Of several
// certificates, the first one that the client supports and that has not expired is chosen.
func (s *Store) For(hello *tls.ClientHelloInfo) *tls.Certificate {
	byName := *s.byName.Load()
	name := NameOf(hello)
	fitting := byName[name]
	if i := strings.IndexByte(name, '.'); len(fitting) == 0 && i > 0 && !isAddress(name) {
		fitting = byName["*"+name[i:]]
	}
	if len(fitting) == 0 {
		return nil
	}
	best := fitting[0]
	if len(fitting) > 1 {
		now := time.Now()
		rank := func(c *certificate) int {
			rank := 0
			if now.After(c.expires) {
				rank += 2
			}
			if hello.SupportsCertificate(&c.tls) != nil {
				rank++
			}
			return rank
		}
		best = slices.MinFunc(fitting, func(a, b *certificate) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return &best.tls
}

// NameOf returns the name that a client asks for, in lower case. Without one, it is the
// address that the client connected to.
func NameOf(hello *tls.ClientHelloInfo) string {
	if hello.ServerName != "" {
		return strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	}
	if hello.Conn == nil {
		return ""
	}
	local, ok := hello.Conn.LocalAddr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	return local.AddrPort().Addr().Unmap().WithZone("").String()
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// Status returns the state of each source, in their order.
func (s *Store) Status(now time.Time) []*api.RouterCertificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*api.RouterCertificate, len(s.slots))
	for i, l := range s.slots {
		c := &api.RouterCertificate{Source: l.source.String()}
		if l.current != nil {
			c.Names, c.Expires = l.current.names, l.current.expires.UnixNano()
			if now.After(l.current.expires) {
				c.Problem = "the certificate has expired: replace the files"
			}
		}
		if l.failure != nil {
			c.Problem = l.failure.Error()
		}
		all[i] = c
	}
	return all
}

// Unusable returns the number of sources with a problem.
func (s *Store) Unusable(now time.Time) (n int) {
	for _, c := range s.Status(now) {
		if c.Problem != "" {
			n++
		}
	}
	return n
}
