// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// founded runs the first server of a cluster until the test ends.
func founded(t *testing.T) (address, token string) {
	t.Helper()
	ready := make(chan agent.Founded, 1)
	config := agent.Config{
		DataDir: t.TempDir(), HTTPAddr: "127.0.0.1:0", Name: "one", Bootstrap: true,
		Logger: slog.New(slog.DiscardHandler), Founded: func(f agent.Founded) bool { ready <- f; return false },
	}
	config.Server.Enabled = true
	a, err := agent.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	wait.Until(t, "the cluster is founded", func() bool { return len(ready) == 1 })
	f := <-ready
	text, err := os.ReadFile(f.OperatorToken)
	if err != nil {
		t.Fatal(err)
	}
	return a.Addr(), strings.TrimSpace(string(text))
}

// Between user and server, an attacker may add a root of its own to the first answer, and pass
// the following connections on.
func TestLoginKeepsNoRootOfAnAttacker(t *testing.T) {
	address, token := founded(t)
	c := &cli{Process: Process{Stderr: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}}
	honest, err := c.login(t.Context(), address, token)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := pki.ParseRoots([]byte(honest.Roots))
	if err != nil {
		t.Fatal(err)
	}
	evil, err := pki.NewAuthority(roots.ClusterID(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	attacked, err := c.login(t.Context(), interceptor(t, address, honest.Roots+string(evil.CertPEM())), token)
	if err != nil {
		t.Fatal(err)
	}
	if attacked.Roots != honest.Roots {
		t.Errorf("the context trusts the attacker:\n%s", attacked.Roots)
	}
}

// interceptor answers on its first connection with roots, and passes later ones on.
func interceptor(t *testing.T, address, roots string) string {
	t.Helper()
	key, err := pki.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pki.Temporary(key, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := &once{Listener: l, pass: address, used: make(chan struct{})}
	server := &http.Server{
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			json.NewEncoder(w).Encode(&api.ClusterCA{Roots: roots})
		}),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(tls.NewListener(first, &tls.Config{Certificates: []tls.Certificate{pair}}))
	}()
	t.Cleanup(func() {
		l.Close()
		server.Close()
		<-served
	})
	return l.Addr().String()
}

// A once listener accepts one connection, and connects all others with another address.
type once struct {
	net.Listener
	pass string
	used chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	for {
		conn, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case <-o.used:
			go relay(conn, o.pass)
		default:
			close(o.used)
			return conn, nil
		}
	}
}

func relay(conn net.Conn, address string) {
	defer conn.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	go io.Copy(to, conn)
	io.Copy(conn, to)
}
