// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// Files name the certificates that an authority outside of the cluster signed: the block tls
// of an agent's configuration.
type Files struct {
	CA     string // authorities that members trust
	Cert   string // certificate of this agent, and intermediate authorities
	Key    string // its private key
	Region string // of this agent: certificates of other regions give no role
	Guard  Guard  // of the seal key; nil: its file has it in clear
}

// An External is an identity whose certificates come from files. It reads files that change,
// and keeps the last good certificate while they are damaged. OpenExternal returns one. Its
// methods may be called concurrently.
type External struct {
	Logger *slog.Logger // set before use; nil means slog.Default

	files   Files
	store   *Store // the seal key and the addresses of servers
	current atomic.Pointer[state]

	mu      sync.Mutex
	checked time.Time             // last look for changes
	seen    [3]secretfile.Version // files of the last attempt to read them
	read    time.Time             // time of that attempt
	failure error                 // of that attempt
	logged  time.Time             // last message about a failure
}

const (
	checkFiles = time.Second      // minimum time between two looks for changes
	pollFiles  = 30 * time.Second // time between looks without handshakes, and between attempts to read unusable files
)

// OpenExternal returns the identity in files. The directory keeps the seal key and the
// addresses of servers, and binds the data directory to the member in the certificate.
func OpenExternal(dir string, files Files) (*External, error) {
	store, err := OpenGuarded(dir, files.Guard)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	e := &External{files: files, store: store, checked: now, read: now}
	e.seen = e.versions()
	st, err := e.load()
	if err != nil {
		return nil, fmt.Errorf("open certificates of block tls: %w", err)
	}
	id := st.identity.ID
	if old := store.PreparedID(); old != "" && old != id {
		return nil, fmt.Errorf("open certificates of block tls: %s belongs to %q, but the data directory to member %q: use the certificate of that member, or another data directory", files.Cert, id, old)
	}
	if _, ok := store.Member(); ok {
		return nil, fmt.Errorf("open certificates of block tls: %s holds a certificate of the cluster's own authority: remove the block tls, or use another data directory", dir)
	}
	if _, _, err := store.Prepare(id); err != nil {
		return nil, err
	}
	e.current.Store(st)
	return e, nil
}

// Member returns this agent as a member. Its cluster id is empty.
func (e *External) Member() (Member, bool) {
	m, _ := e.store.Member()
	st := e.newest()
	return Member{ID: st.identity.ID, Role: st.identity.Role, Servers: m.Servers}, true
}

// SetServers remembers the addresses of the servers that this member knows.
func (e *External) SetServers(addrs []string) error { return e.store.SetServers(addrs) }

// SealKey returns the private seal key.
func (e *External) SealKey() (private []byte) { return e.store.SealKey() }

// SealPublic returns the public seal key.
func (e *External) SealPublic() ([]byte, error) { return pki.SealPublic(e.store.SealKey()) }

// Roots returns the authorities that this member trusts.
func (e *External) Roots() *pki.Roots { return e.newest().roots }

// Expires returns the time at which the certificate expires.
func (e *External) Expires() time.Time { return e.newest().identity.NotAfter }

// ServerConfig returns the configuration of this agent's listener: see [Store.ServerConfig].
func (e *External) ServerConfig(protocols ...string) *tls.Config { return serverConfig(e, protocols) }

// ClientConfig returns the configuration for dialling servers: see [Store.ClientConfig].
func (e *External) ClientConfig(protocols ...string) *tls.Config {
	return clientConfig(e, wantServer, protocols)
}

// MemberConfig is ClientConfig for peers of any role: see [Store.MemberConfig].
func (e *External) MemberConfig(protocols ...string) *tls.Config {
	return clientConfig(e, func(pki.Identity) error { return nil }, protocols)
}

// Issued returns the beginning of the certificate's validity.
func (e *External) Issued() time.Time { return e.newest().identity.NotBefore }

// Reload reads the files if they changed, and returns why they are not used.
func (e *External) Reload() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.checked, e.read = now, time.Time{}
	e.reload(now)
	return e.failure
}

// Peer returns the member at the other end of a connection: see [Store.Peer].
func (e *External) Peer(c tls.ConnectionState) (pki.Identity, bool) { return peerOf(e, c) }

// Renew reads changed files until the context ends, so that mistakes are in the log before a
// handshake meets them. It never calls ask: another program renews the certificate.
func (e *External) Renew(ctx context.Context, _ func(context.Context, []byte) (certPEM, rootsPEM []byte, err error)) {
	ticker := time.NewTicker(pollFiles)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			e.newest()
		}
	}
}

// Warning returns the sentence for an operator if the certificate expires soon, or if changed
// files are not used; "" if all is well.
func (e *External) Warning(now time.Time) string {
	id := e.newest().identity
	e.mu.Lock()
	failure := e.failure
	e.mu.Unlock()
	soon := min(id.NotAfter.Sub(id.NotBefore)/5, 14*24*time.Hour)
	if failure == nil && id.NotAfter.Sub(now) > soon {
		return ""
	}
	text := expiry(id.NotAfter, now)
	if failure != nil {
		return fmt.Sprintf("%s, and the changed files are not used: %v", text, failure)
	}
	return fmt.Sprintf("%s: replace %s and %s", text, e.files.Cert, e.files.Key)
}

func (e *External) logger() *slog.Logger {
	if e.Logger != nil {
		return e.Logger
	}
	return slog.Default()
}
