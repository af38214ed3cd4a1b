// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// asks returns a handshake of a modern client for a name.
func asks(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{
		ServerName: name, SupportedVersions: []uint16{tls.VersionTLS13}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves: []tls.CurveID{tls.CurveP256}, CipherSuites: []uint16{tls.TLS_AES_128_GCM_SHA256},
	}
}

func TestCertificateIsChosenByName(t *testing.T) {
	ca, dir := testcert.New(t), t.TempDir()
	later := time.Now().Add(time.Hour)
	var sources []Source
	for file, names := range map[string][]string{"exact": {"a.example.com", "EXAMPLE.net"}, "wildcard": {"*.example.com"}, "address": {"192.0.2.1"}} {
		cert, key := ca.Files(dir, file, ca.Issue(later, names...))
		sources = append(sources, Source{Cert: cert, Key: key})
	}
	s := New(sources, nil, slog.New(slog.DiscardHandler))
	for name, want := range map[string]string{
		"a.example.com": "example.net", "A.Example.COM.": "example.net", "example.net": "example.net",
		"b.example.com": "*.example.com", "x.y.example.com": "", "example.com": "", "*.example.com": "*.example.com", "": "", ".example.com": "", "192.0.2.1": "192.0.2.1", "b.0.2.1": "",
		strings.Repeat("a", 300): "", "a.example.com\x00": "",
	} {
		got := s.For(asks(name))
		if (got == nil) != (want == "") {
			t.Errorf("%q: certificate %v, want one for %q", name, got, want)
		} else if got != nil && !strings.Contains(strings.ToLower(strings.Join(got.Leaf.DNSNames, " ")+ipText(got)), want) {
			t.Errorf("%q: certificate for %v, want %s", name, got.Leaf.DNSNames, want)
		}
	}
}

func ipText(c *tls.Certificate) string {
	var b strings.Builder
	for _, ip := range c.Leaf.IPAddresses {
		b.WriteString(ip.String())
	}
	return b.String()
}

func TestUnusableFilesAreRefused(t *testing.T) {
	ca := testcert.New(t)
	later := time.Now().Add(time.Hour)
	other := ca.Issue(later, "other.test")
	for _, test := range []struct {
		name   string
		damage func(cert, key string) error
		want   string
	}{
		{"key of another certificate", func(_, key string) error { return os.WriteFile(key, other.Key, 0o600) }, "private key does not match"},
		{"key for all users", func(_, key string) error { return os.Chmod(key, 0o604) }, "chmod o-rwx"},
		{"certificate that all users write", func(cert, _ string) error { return os.Chmod(cert, 0o602) }, "chmod o-rwx"},
		{"no key", func(_, key string) error { return os.Remove(key) }, "no such file"},
		{"a pipe", func(_, key string) error { os.Remove(key); return syscall.Mkfifo(key, 0o600) }, "no regular file"},
		{"a directory", func(cert, _ string) error { os.Remove(cert); return os.Mkdir(cert, 0o700) }, "no regular file"},
		{"a link to itself", func(_, key string) error { os.Remove(key); return os.Symlink(key, key) }, "too many levels"},
		{"a huge certificate", func(cert, _ string) error { return os.WriteFile(cert, make([]byte, maxFile+1), 0o600) }, "more than"},
		{"an empty certificate", func(cert, _ string) error { return os.WriteFile(cert, nil, 0o600) }, "cert_file"},
		{"expired", func(cert, key string) error {
			ca.Files(filepath.Dir(cert), "web", ca.Issue(time.Now().Add(-time.Minute), "web.test"))
			return nil
		}, "expired at"},
		{"without names", func(cert, key string) error {
			ca.Files(filepath.Dir(cert), "web", ca.Issue(later))
			return nil
		}, "names no host"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			cert, key := ca.Files(dir, "web", ca.Issue(later, "web.test"))
			good := New([]Source{{Cert: cert, Key: key}}, nil, slog.New(slog.DiscardHandler))
			first := good.For(asks("web.test"))
			if err := test.damage(cert, key); err != nil {
				t.Fatal(err)
			}
			// The store that had a good certificate keeps it. A new one has none.
			good.Reload(time.Now())
			if got := good.For(asks("web.test")); got != first || got == nil {
				t.Errorf("the last good certificate is not kept: %v", got)
			}
			fresh := New([]Source{{Cert: cert, Key: key}}, nil, slog.New(slog.DiscardHandler))
			if got := fresh.For(asks("web.test")); got != nil {
				t.Errorf("an unusable certificate is used")
			}
			for _, s := range []*Store{good, fresh} {
				status := s.Status(time.Now())[0]
				if !strings.Contains(status.Problem, test.want) || s.Unusable(time.Now()) != 1 {
					t.Errorf("problem %q, want %q", status.Problem, test.want)
				}
			}
			// Good files end the problem.
			os.RemoveAll(cert)
			os.RemoveAll(key)
			ca.Files(dir, "web", ca.Issue(later, "web.test"))
			for _, s := range []*Store{good, fresh} {
				s.Reload(time.Now())
				if got := s.For(asks("web.test")); got == nil || got == first || s.Unusable(time.Now()) != 0 {
					t.Errorf("the new certificate is not used: %+v", s.Status(time.Now())[0])
				}
			}
		})
	}
}

func TestLinksAreFollowed(t *testing.T) {
	ca, dir := testcert.New(t), t.TempDir()
	later := time.Now().Add(time.Hour)
	for _, version := range []string{"1", "2"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		ca.Files(filepath.Join(dir, version), "web", ca.Issue(later, "web.test"))
	}
	now := filepath.Join(dir, "now")
	if err := os.Symlink("1", now); err != nil {
		t.Fatal(err)
	}
	s := New([]Source{{Cert: filepath.Join(now, "web.pem"), Key: filepath.Join(now, "web.key")}}, nil, slog.New(slog.DiscardHandler))
	first := s.For(asks("web.test"))
	if err := os.Symlink("2", now+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(now+".new", now); err != nil {
		t.Fatal(err)
	}
	s.Reload(time.Now())
	if second := s.For(asks("web.test")); first == nil || second == nil || bytes.Equal(first.Certificate[0], second.Certificate[0]) {
		t.Error("the certificate behind the new link is not used")
	}
}

// A certificate that becomes valid, or whose expiry is met by a second one, needs no change of files.
func TestExpiredCertificateYieldsToAnother(t *testing.T) {
	ca, dir := testcert.New(t), t.TempDir()
	a, aKey := ca.Files(dir, "a", ca.Issue(time.Now().Add(time.Hour), "web.test"))
	b, bKey := ca.Files(dir, "b", ca.Issue(time.Now().Add(2*time.Hour), "web.test"))
	s := New([]Source{{Cert: a, Key: aKey}, {Cert: b, Key: bKey}}, nil, slog.New(slog.DiscardHandler))
	first := s.For(asks("web.test"))
	s.slots[0].current.expires = time.Now().Add(-time.Second)
	if got := s.For(asks("web.test")); got == first || got == nil {
		t.Error("the expired certificate is chosen")
	}
	if got := s.Status(time.Now())[0].Problem; !strings.Contains(got, "has expired") {
		t.Errorf("problem %q", got)
	}
}
