// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/network"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// An authority signs certificates outside of any cluster.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Company CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue writes the certificate of a machine with a role, as Nomad names it, and its key.
func (a *authority) issue(dir, name, role string, serial int64) {
	a.t.Helper()
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{role + ".global.nomad", "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(12 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: a.cert.Raw}, "cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600), os.Rename(path+".new", path)); err != nil {
			a.t.Fatal(err)
		}
	}
}

// config writes a configuration file, with blocks in the form of Nomad's.
func (a *authority) config(dir, role string, hosts []*network.Host, text string) (path string) {
	a.t.Helper()
	var join []string
	for _, h := range hosts {
		join = append(join, fmt.Sprintf("%q", h.Addr))
	}
	path = filepath.Join(dir, "agent.hcl")
	text = fmt.Sprintf(`
tls {
  http      = true
  rpc       = true
  ca_file   = "%[1]s/ca.pem"
  cert_file = "%[1]s/cert.pem"
  key_file  = "%[1]s/key.pem"
}
%[2]s {
  enabled = true
  server_join {
    retry_join     = [%[3]s]
    retry_interval = "200ms"
  }
  %[4]s
}
`, dir, role, strings.Join(join, ", "), text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// serial returns the serial number of the certificate that a member presents to another host.
func serial(t *testing.T, from, to *network.Host) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := from.Dial(ctx, "tcp", to.Addr+":"+testbed.MemberPort)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err := c.HandshakeContext(ctx); err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestServersWithFilesFoundOneCluster starts three servers together, with certificates of
// another authority and a configuration in Nomad's form, and a node. Certificates are replaced
// while they run, and a server returns with the same configuration.
func TestServersWithFilesFoundOneCluster(t *testing.T) {
	m := newMembers(t, 3)
	ca := newAuthority(t)
	hosts := m.net.Hosts()[:3]
	dirs := make([]string, 3)
	for i, a := range m.all {
		dirs[i] = t.TempDir()
		ca.issue(dirs[i], fmt.Sprint("server-", i+1), "server", int64(10+i))
		a.Args = append(a.Args, "-config", ca.config(dirs[i], "server", hosts, "bootstrap_expect = 3"))
		a.start()
	}
	for _, a := range m.all {
		a.eventually("all servers vote", func(ctx context.Context) error { return m.allVote(ctx, a) })
	}
	tokens := 0
	for _, a := range m.all {
		if _, err := os.Stat(filepath.Join(a.Dir, "operator.token")); err == nil {
			tokens++
		}
	}
	if tokens != 1 {
		t.Errorf("%d servers founded a cluster", tokens)
	}
	dir := t.TempDir()
	ca.issue(dir, "worker-1", "client", 20)
	node := m.on(m.spare, "host-4", "-config", ca.config(dir, "client", hosts, ""))
	node.start()
	node.eventually("the node is ready", m.all[1].Ready)
	m.all[2].register(sleeper("web", 2))
	m.all[0].allocations("web", "runs", running(2))
	if _, err := m.all[0].Client.Cluster().JoinTokens(t.Context()); err == nil || !strings.Contains(err.Error(), "come from files") {
		t.Errorf("join tokens of a cluster without an authority: %v", err)
	}

	for i, a := range m.all {
		ca.issue(dirs[i], fmt.Sprint("server-", i+1), "server", int64(30+i))
		if err := syscall.Kill(a.PID(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		a.eventually("the new certificate is in use", func(context.Context) error {
			if got := serial(t, m.spare, hosts[i]); got != int64(30+i) {
				return fmt.Errorf("serial number %d", got)
			}
			return nil
		})
	}
	a := m.other(m.leader(m.all[0]))
	a.Kill()
	a.start()
	a.eventually("the server is back", func(ctx context.Context) error { return m.allVote(ctx, a) })
	a.eventually("the certificates' new ends are known", func(ctx context.Context) error {
		list, err := a.Client.Servers().List(ctx)
		if err == nil && slices.ContainsFunc(list, func(s *api.ServerStatus) bool { return s.Issued == 0 || s.Expires == 0 }) {
			err = fmt.Errorf("servers without a certificate: %+v", list)
		}
		return err
	})
	if list, _, err := a.Client.Nodes().List(t.Context(), nil); err != nil || len(list) != 1 || list[0].Status != api.NodeStatusReady || list[0].ID != "worker-1" {
		t.Errorf("nodes %+v: %v", list, err)
	}
}

// TestFilesThatDoNotAdmit starts agents with wrong certificates. Each ends with a sentence that
// names the file.
func TestFilesThatDoNotAdmit(t *testing.T) {
	m := newMembers(t, 1)
	ca, foreign := newAuthority(t), newAuthority(t)
	host := m.net.Hosts()[0]
	for _, k := range []struct {
		what   string
		change func(dir string)
		say    []string
	}{
		{"a node's certificate", func(dir string) { ca.issue(dir, "a", "client", 2) }, []string{"/cert.pem has the role node", "server.global.reeve"}},
		{"another authority", func(dir string) {
			own, _ := os.ReadFile(filepath.Join(dir, "ca.pem"))
			foreign.issue(dir, "a", "server", 2)
			os.WriteFile(filepath.Join(dir, "ca.pem"), own, 0o600)
		}, []string{"no authority in ca_file", "/cert.pem"}},
		{"another key", func(dir string) {
			cert, _ := os.ReadFile(filepath.Join(dir, "cert.pem"))
			ca.issue(dir, "a", "server", 2)
			os.WriteFile(filepath.Join(dir, "cert.pem"), cert, 0o600)
		}, []string{"/cert.pem", "/key.pem", "private key does not match"}},
		{"no key", func(dir string) { os.Remove(filepath.Join(dir, "key.pem")) }, []string{"/key.pem", "no such file"}},
		{"no role", func(dir string) { ca.issue(dir, "a", "cli", 2) }, []string{"/cert.pem", "gives its owner no role: add the DNS name server.global.reeve"}},
	} {
		dir := t.TempDir()
		ca.issue(dir, "a", "server", 1)
		k.change(dir)
		a := m.on(host, "host-1", "-config", ca.config(dir, "server", m.net.Hosts()[:1], ""))
		a.start()
		select {
		case <-a.Exited():
		case <-wait.Limit(t, patience):
			t.Fatalf("%s: the agent runs", k.what)
		}
		said := a.Output()
		for _, word := range k.say {
			if !strings.Contains(said, word) {
				t.Errorf("%s: the agent does not say %q: %s", k.what, word, said)
			}
		}
		if bytes.Contains([]byte(said), []byte("PRIVATE")) {
			t.Errorf("%s: the agent prints a key", k.what)
		}
	}
}
