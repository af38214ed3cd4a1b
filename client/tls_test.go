// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// quiet does not log failed handshakes.
func quiet(s *httptest.Server) *httptest.Server {
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func leaderHandler(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `"10.0.0.1:4646"`) }

func TestCAsComeFromConfigurationOrEnvironment(t *testing.T) {
	server := quiet(httptest.NewUnstartedServer(http.HandlerFunc(leaderHandler)))
	server.StartTLS()
	defer server.Close()
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, empty := write("ca.pem", own), write("empty.pem", []byte("no certificate"))
	for _, c := range []struct {
		what, reeve, nomad string // of the environment
		ca                 []byte
		says               string // of the error; "": none
	}{
		{what: "no CA", says: "signed by another CA"},
		{what: "a CA", ca: own},
		{what: "REEVE_CACERT", reeve: good},
		{what: "NOMAD_CACERT", nomad: good},
		{what: "REEVE_CACERT before NOMAD_CACERT", reeve: good, nomad: empty},
		{what: "a CA before REEVE_CACERT", ca: own, reeve: empty},
		{what: "a file without a certificate", reeve: empty, says: "REEVE_CACERT (" + empty + ") contains no certificate"},
		{what: "no file", nomad: dir + "/none", says: "NOMAD_CACERT names a file that cannot be read"},
		{what: "a CA without a certificate", ca: []byte("x"), says: "Config.CA contains no certificate"},
	} {
		t.Setenv("REEVE_CACERT", c.reeve)
		t.Setenv("NOMAD_CACERT", c.nomad)
		cl, err := client.New(client.Config{Address: server.URL, CA: c.ca})
		if err == nil {
			_, err = cl.Status().Leader(t.Context())
			cl.Close()
		}
		if c.says == "" && err != nil || c.says != "" && (api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.says)
		}
	}
	t.Setenv("REEVE_CACERT", empty)
	if _, err := client.New(client.Config{Address: "http://127.0.0.1:1"}); err != nil {
		t.Errorf("a wrong CA harms an address without TLS: %v", err)
	}
}

func TestMistakesAboutTLSAreExplained(t *testing.T) {
	secured := quiet(httptest.NewUnstartedServer(http.HandlerFunc(leaderHandler)))
	secured.StartTLS()
	defer secured.Close()
	plain := quiet(httptest.NewUnstartedServer(http.HandlerFunc(leaderHandler)))
	plain.Start()
	defer plain.Close()
	strict := quiet(httptest.NewUnstartedServer(http.HandlerFunc(leaderHandler)))
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	strict.StartTLS()
	defer strict.Close()
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	const sentence = "this port speaks TLS: use https://"
	agent := replyingWith(t, fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(sentence), sentence))
	alerting := replyingWith(t, "\x15\x03\x01\x00\x02\x02\x16\r\n")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw})
	_, number, _ := strings.Cut(host(secured), ":")
	for _, c := range []struct {
		what   string
		config client.Config
		says   []string
	}{
		{"plain HTTP to TLS", client.Config{Address: "http://" + host(secured)}, []string{"speaks TLS", "https://" + host(secured), "`reeve login`"}},
		{"plain HTTP to the port of an agent", client.Config{Address: "http://" + agent}, []string{"speaks TLS", "https://" + agent, "`reeve login`"}},
		{"plain HTTP to a port that answers with an alert", client.Config{Address: "http://" + alerting}, []string{"speaks TLS", "https://" + alerting}},
		{"TLS to plain HTTP", client.Config{Address: "https://" + host(plain)}, []string{"speaks plain HTTP", "http://" + host(plain)}},
		{"a foreign CA", client.Config{Address: "https://" + host(secured)}, []string{"signed by another CA", "REEVE_CACERT", "Acme Co"}},
		{"another name", client.Config{Address: "https://localhost:" + number, CA: ca}, []string{"not valid for this name", "localhost"}},
		{"no client certificate", client.Config{Address: "https://" + host(strict), CA: ca}, []string{"rejected the connection", "certificate required"}},
	} {
		_, err := newClient(t, c.config).Status().Leader(t.Context())
		if api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s: got %v, want an invalid request", c.what, err)
			continue
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q is missing in: %v", c.what, word, err)
			}
		}
	}
}

// replyingWith returns the address of a port that sends a text to every caller.
func replyingWith(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(conn).ReadString('\n') // an answer before the request is ignored
			io.WriteString(conn, text)
			conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

func TestAnswersThatContainTheSentenceOfThePortAreOrdinary(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Job.Name: \"this port speaks TLS\" is not a name", http.StatusBadRequest)
	}))
	defer s.Close()
	_, err := newClient(t, client.Config{Address: s.URL}).Status().Leader(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "Job.Name") {
		t.Errorf("got %v, want the server's sentence", err)
	}
}
