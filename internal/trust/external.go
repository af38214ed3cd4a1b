// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// Files name the certificates that an authority outside of the cluster signed: the block tls
// of an agent's configuration.
type Files struct {
	CA     string // authorities that members trust
	Cert   string // certificate of this agent, and intermediate authorities
	Key    string // its private key
	Region string // of this agent: certificates of other regions give no role
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
	checked time.Time  // last look for changes
	seen    [3]version // files of the last attempt to read them
	read    time.Time  // time of that attempt
	failure error      // of that attempt
	logged  time.Time  // last message about a failure
}

// A version distinguishes contents of a file without reading it; it is zero for a missing file.
type version struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
	inode    uint64
}

const (
	checkFiles = time.Second      // minimum time between two looks for changes
	pollFiles  = 30 * time.Second // time between looks without handshakes, and between attempts to read unusable files
)

// OpenExternal returns the identity in files. The directory keeps the seal key and the
// addresses of servers, and binds the data directory to the member in the certificate.
func OpenExternal(dir string, files Files) (*External, error) {
	store, err := Open(dir)
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

// load reads and checks the files.
func (e *External) load() (*state, error) {
	var text [3][]byte
	for i, f := range []struct {
		path, option string
		forbidden    fs.FileMode
	}{{e.files.CA, "ca_file", 0o002}, {e.files.Cert, "cert_file", 0o002}, {e.files.Key, "key_file", 0o007}} {
		var err error
		if text[i], err = readExternal(f.path, f.forbidden); err != nil {
			return nil, fmt.Errorf("%s: %w", f.option, err)
		}
	}
	roots, err := pki.ParseExternalRoots(text[0], e.files.Region)
	if err != nil {
		return nil, fmt.Errorf("ca_file %s: %w", e.files.CA, err)
	}
	cert, err := tls.X509KeyPair(text[1], text[2])
	if err != nil {
		return nil, fmt.Errorf("cert_file %s, key_file %s: %w", e.files.Cert, e.files.Key, err)
	}
	var chain []*x509.Certificate
	for _, der := range cert.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("cert_file %s: %w", e.files.Cert, err)
		}
		chain = append(chain, c)
	}
	id, err := roots.Identify(chain, time.Now())
	if err != nil {
		return nil, fmt.Errorf("cert_file %s: %w", e.files.Cert, err)
	}
	return &state{cert: &cert, roots: roots, identity: id, peers: newPeers()}, nil
}

// readExternal reads a file. It follows links, by which other programs replace certificates.
func readExternal(path string, forbidden fs.FileMode) ([]byte, error) {
	if path == "" {
		return nil, errors.New("it is not set: set ca_file, cert_file and key_file together")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&forbidden != 0:
		return nil, fmt.Errorf("%s has mode %#o, which lets every user of this machine use it: run chmod o-rwx %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFileSize)
	}
	return text, err
}

func (e *External) versions() (all [3]version) {
	for i, path := range []string{e.files.CA, e.files.Cert, e.files.Key} {
		if info, err := os.Stat(path); err == nil {
			all[i] = version{info.ModTime(), info.Size(), info.Mode(), inodeOf(info)}
		}
	}
	return all
}

// newest returns the identity, after it read files that changed. Handshakes do not wait for
// each other, nor for a disk that another handshake waits for.
func (e *External) newest() *state {
	if e.mu.TryLock() {
		defer e.mu.Unlock()
		if now := time.Now(); now.Sub(e.checked) >= checkFiles || now.Before(e.checked) {
			e.checked = now
			e.reload(now)
		}
	}
	return e.current.Load()
}

// reload reads the files if they changed. An error keeps the last good certificate. Unusable
// files are read again after a while: a certificate may become valid.
func (e *External) reload(now time.Time) {
	found := e.versions()
	if found == e.seen && (e.failure == nil || now.Sub(e.read) < pollFiles) {
		return
	}
	next, err := e.load()
	if found != e.versions() {
		return // they are being written
	}
	fresh := found != e.seen
	e.seen, e.read = found, now
	old := e.current.Load()
	if err == nil {
		err = e.succeeds(next, old)
	}
	e.failure = err
	switch {
	case err != nil && (fresh || now.Sub(e.logged) >= time.Hour):
		e.logged = now
		e.logger().Error("changed certificates are not used: the agent keeps the last good one", "error", err, "expires", old.identity.NotAfter)
	case err == nil && !sameCertificates(next, old):
		e.current.Store(next)
		e.logger().Info("certificates were reloaded", "expires", next.identity.NotAfter)
	}
}

// succeeds checks that a running agent may replace one certificate with another.
func (e *External) succeeds(next, old *state) error {
	switch a, b := next.identity, old.identity; {
	case a.ID != b.ID || a.Role != b.Role:
		return fmt.Errorf("cert_file %s belongs to %s %q, but this agent is %s %q: restore its certificate", e.files.Cert, a.Role, a.ID, b.Role, b.ID)
	case a.Expired && !b.Expired:
		return fmt.Errorf("cert_file %s expired at %s", e.files.Cert, a.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func sameCertificates(a, b *state) bool {
	return bytes.Equal(a.roots.PEM(), b.roots.PEM()) && len(a.cert.Certificate) == len(b.cert.Certificate) && bytes.Equal(bytes.Join(a.cert.Certificate, nil), bytes.Join(b.cert.Certificate, nil))
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
func (e *External) ClientConfig(protocols ...string) *tls.Config { return clientConfig(e, protocols) }

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
