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
	"github.com/reeve-run/reeve/internal/router/variables"
)

// A Store holds certificates. Its methods may be called concurrently.
type Store struct {
	log    *slog.Logger
	open   variables.Open
	byName atomic.Pointer[map[string][]*certificate]

	mu    sync.Mutex // guards slots
	slots []*slot
}

// Intervals of a store.
const (
	checkInterval = 2 * time.Second  // between two checks for changed files
	retryInterval = 30 * time.Second // between attempts to use the same unusable content
	warnInterval  = 24 * time.Hour   // between warnings in the log about one certificate
)

// New reads the certificates in files. An unusable one stays without effect until its files
// change. open may be nil if no source is a variable.
func New(sources []Source, open variables.Open, log *slog.Logger) *Store {
	s := &Store{log: log, open: open}
	for _, source := range sources {
		s.slots = append(s.slots, newSlot(source))
	}
	s.byName.Store(&map[string][]*certificate{})
	s.Reload(time.Now())
	return s
}

// Run follows the files and variables until the context ends.
func (s *Store) Run(ctx context.Context) {
	var followers sync.WaitGroup
	defer followers.Wait()
	s.mu.Lock()
	for _, l := range s.slots {
		if source := l.source; source.isVariable() && !l.fed {
			followers.Go(func() {
				variables.Follow(ctx, s.open, source.Namespace, source.Variable, func(v *api.Variable, err error) { s.receive(l, v, err, time.Now()) })
			})
		}
	}
	s.mu.Unlock()
	tick := time.NewTicker(checkInterval)
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

// Reload reads the files that changed, and tries again the content that was unusable a while ago.
// Handshakes continue meanwhile.
func (s *Store) Reload(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, l := range s.slots {
		changed = l.reload(now, s.log) || changed
		l.warn(now, s.log)
	}
	if changed {
		s.publish()
	}
}

// receive uses the content of a variable, or notes why it cannot be read.
func (s *Store) receive(l *slot, v *api.Variable, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.receive(v, err, now, s.log) {
		s.publish()
	}
}

// publish makes the current certificates those of new handshakes.
func (s *Store) publish() {
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
		all[i] = l.status(now)
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

// Expires returns the earliest expiry of the certificates in use; zero without one.
func (s *Store) Expires() (first time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.slots {
		if c := l.current; c != nil && (first.IsZero() || c.expires.Before(first)) {
			first = c.expires
		}
	}
	return first
}
