// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// A certificate is a usable certificate.
type certificate struct {
	tls     tls.Certificate
	names   []string // DNS names, wildcards and addresses, in lower case
	expires time.Time
	life    time.Duration // from its beginning to its expiry
}

const (
	maxFile  = 256 << 10
	maxNames = 1000
)

// load reads and checks the files of a certificate.
func load(s Source, now time.Time) (*certificate, error) {
	certPEM, err := secretfile.ReadExternal(s.Cert, 0o002, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cert_file: %w", err)
	}
	keyPEM, err := secretfile.ReadExternal(s.Key, 0o007, maxFile)
	if err != nil {
		return nil, fmt.Errorf("key_file: %w", err)
	}
	c, err := parse(certPEM, keyPEM, now)
	if err != nil {
		return nil, fmt.Errorf("cert_file %s, key_file %s: %w", s.Cert, s.Key, err)
	}
	return c, nil
}

func parse(certPEM, keyPEM []byte, now time.Time) (*certificate, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	leaf := pair.Leaf
	if leaf == nil {
		if leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return nil, err
		}
		pair.Leaf = leaf
	}
	c := &certificate{tls: pair, expires: leaf.NotAfter, life: leaf.NotAfter.Sub(leaf.NotBefore)}
	for _, name := range leaf.DNSNames {
		c.names = append(c.names, strings.ToLower(strings.TrimSuffix(name, ".")))
	}
	for _, address := range leaf.IPAddresses {
		c.names = append(c.names, address.String())
	}
	slices.Sort(c.names)
	c.names = slices.Compact(c.names)
	switch {
	case len(c.names) == 0:
		return nil, errors.New("the certificate names no host: issue one with subject alternative names")
	case len(c.names) > maxNames:
		return nil, fmt.Errorf("the certificate has %d names: use several certificates of at most %d names", len(c.names), maxNames)
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("the certificate expired at %s: renew it", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("the certificate is not valid before %s: check the clock of this machine, or issue another one", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return c, nil
}

func (c *certificate) equal(other *certificate) bool {
	return slices.EqualFunc(c.tls.Certificate, other.tls.Certificate, bytes.Equal)
}
