// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/secretfile"
)

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

// readExternal reads a file.
func readExternal(path string, forbidden fs.FileMode) ([]byte, error) {
	if path == "" {
		return nil, errors.New("it is not set: set ca_file, cert_file and key_file together")
	}
	return secretfile.ReadExternal(path, forbidden, maxFileSize)
}

func (e *External) versions() (all [3]secretfile.Version) {
	for i, path := range []string{e.files.CA, e.files.Cert, e.files.Key} {
		all[i] = secretfile.VersionOf(path)
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
