// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// A secureMachine is an agent whose router serves HTTPS with one certificate.
type secureMachine struct {
	*machine
	ca        *testcert.Authority
	cert, key string
	http      string // address of the router
	https     string
}

func newSecureMachine(t *testing.T, names ...string) *secureMachine {
	t.Helper()
	m := &secureMachine{machine: unstarted(t), ca: testcert.New(t)}
	m.cert, m.key = m.ca.Files(t.TempDir(), "web", m.ca.Issue(time.Now().Add(time.Hour), names...))
	m.Args = []string{"-dev", "-router-https", "127.0.0.1:0", "-config", m.configured(fmt.Sprintf(
		"router {\n  certificate {\n    cert_file = %q\n    key_file  = %q\n  }\n}\n", m.cert, m.key))}
	m.start()
	m.waitReady()
	s := m.status()
	m.http, m.https = s.HTTP, s.HTTPS
	return m
}

func (m *secureMachine) status() *api.RouterStatus {
	m.t.Helper()
	s, err := m.Client.Status().Router(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// asks returns a client whose connections go to the router's address of HTTPS.
func (m *secureMachine) asks(http2 bool) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: m.ca.Pool()}, ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, m.https)
		},
	}
	m.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func textOf(client *http.Client, url string) (text string, protocol int, err error) {
	a, err := client.Get(url)
	if err != nil {
		return "", 0, err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", a.Status, b)
	}
	return string(b), a.ProtoMajor, err
}

func TestRouterTLSServesRedirectsAndRefuses(t *testing.T) {
	m := newSecureMachine(t, "web.test")
	job := routedJob(m.Reeve, "1")
	job.Groups[0].Routes[0].TLS = &api.RouteTLS{Redirect: true}
	m.register(job)
	m.eventually("the job is routed", func(ctx context.Context) error { return m.routed(ctx, 3) })
	for _, http2 := range []bool{false, true} {
		text, protocol, err := textOf(m.asks(http2), "https://web.test/")
		if err != nil || !strings.Contains(text, "version 1") || (protocol == 2) != http2 {
			t.Errorf("HTTP/%d: %q, %v", protocol, text, err)
		}
	}
	q, _ := http.NewRequest(http.MethodGet, "http://"+m.http+"/a?b=c", nil)
	q.Host = "web.test"
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := plain.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	_, port, _ := net.SplitHostPort(m.https)
	if want := "https://web.test:" + port + "/a?b=c"; a.StatusCode != http.StatusPermanentRedirect || a.Header.Get("Location") != want {
		t.Errorf("%s to %q, want %q", a.Status, a.Header.Get("Location"), want)
	}
	_, err = tls.Dial("tcp", m.https, &tls.Config{ServerName: "other.test", InsecureSkipVerify: true})
	if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("a name without a certificate: %v", err)
	}
	m.eventually("the handshake is counted", func(context.Context) error {
		if s := m.status(); s.TLS.UnknownName != 1 {
			return fmt.Errorf("%+v", s.TLS)
		}
		return nil
	})
}

// TestRouterTLSRenewalLosesNoRequest replaces the certificate while clients send a thousand
// requests, on kept and on new connections, and then damages the files.
func TestRouterTLSRenewalLosesNoRequest(t *testing.T) {
	m := newSecureMachine(t, "web.test")
	m.deployed("1")
	served := func() string {
		nc, err := tls.Dial("tcp", m.https, &tls.Config{ServerName: "web.test", RootCAs: m.ca.Pool()})
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		return nc.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	renewed := func(p testcert.Pair) {
		before := served()
		m.ca.Files(strings.TrimSuffix(m.cert, "/web.pem"), "web", p)
		m.eventually("the new certificate is served", func(context.Context) error {
			if served() == before {
				return fmt.Errorf("certificates: %+v", m.status().Certificates[0])
			}
			return nil
		})
	}
	kept := m.asks(true)
	h := hammerWith(t, 8, func(client *http.Client) error {
		if client.Transport.(*http.Transport).DisableKeepAlives {
			fresh := m.asks(false)
			defer fresh.CloseIdleConnections()
			_, _, err := textOf(fresh, "https://web.test/")
			return err
		}
		_, _, err := textOf(kept, "https://web.test/")
		return err
	})
	for range 3 {
		renewed(m.ca.Issue(time.Now().Add(2*time.Hour), "web.test"))
	}
	m.eventually("a thousand requests are sent", func(context.Context) error {
		if n := h.sent.Load(); n < 1000 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	// Unusable files: the last good certificate stays, and the status says why.
	last := served()
	other := m.ca.Issue(time.Now().Add(time.Hour), "web.test")
	for _, damage := range []struct {
		what, want string
		do         func() error
	}{
		{"a key that does not fit", "private key does not match", func() error { return os.WriteFile(m.key, other.Key, 0o600) }},
		{"a key for all users", "chmod o-rwx", func() error { return os.Chmod(m.key, 0o644) }},
		{"an expired certificate", "expired", func() error {
			m.ca.Files(strings.TrimSuffix(m.cert, "/web.pem"), "web", m.ca.Issue(time.Now().Add(-time.Minute), "web.test"))
			return nil
		}},
	} {
		if err := damage.do(); err != nil {
			t.Fatal(err)
		}
		m.eventually(damage.what+" is reported", func(context.Context) error {
			if c := m.status().Certificates[0]; !strings.Contains(c.Problem, damage.want) || c.Expires == 0 {
				return fmt.Errorf("%+v", c)
			}
			return nil
		})
		if got := served(); got != last {
			t.Errorf("%s: another certificate is served", damage.what)
		}
	}
	h.stop()
	if h.lost.Load() > 0 {
		t.Errorf("%d of %d requests were lost, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
	t.Logf("%d requests, 3 renewals, 3 unusable certificates", h.sent.Load())
}

// TestRouterTLSPassesConnectionsOn routes TLS by name to a task that decrypts itself.
func TestRouterTLSPassesConnectionsOn(t *testing.T) {
	m := newSecureMachine(t, "web.test")
	instance := m.ca.Issue(time.Now().Add(time.Hour), "db.test")
	pair, err := tls.X509KeyPair(instance.Cert, instance.Key)
	if err != nil {
		t.Fatal(err)
	}
	// The task forwards its port to a server of the test, which holds the key.
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				word, _ := bufio.NewReader(nc).ReadString('\n')
				io.WriteString(nc, "heard "+word)
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	job := testbed.Job("db", "raw_exec", 1, map[string]any{"command": "/bin/sleep", "args": []string{"600"}})
	g := job.Groups[0]
	n := 0
	fmt.Sscan(port, &n)
	g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "db", Value: n}}}}
	g.Routes = []*api.Route{{Host: "db.test", Port: "db", TLS: &api.RouteTLS{Mode: api.TLSPassthrough}}}
	m.register(job)
	m.eventually("the job is routed", func(ctx context.Context) error { return m.routed(ctx, 1) })
	nc, err := tls.Dial("tcp", m.https, &tls.Config{ServerName: "db.test", RootCAs: m.ca.Pool()})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "word\n")
	if got, err := io.ReadAll(nc); string(got) != "heard word\n" {
		t.Errorf("%q, %v", got, err)
	}
	nc.Close()
	m.eventually("the connection is counted", func(context.Context) error {
		if s := m.status(); s.TLS.Passed != 1 || s.Routes[0].Requests != 1 || s.Routes[0].TLS != api.TLSPassthrough {
			return fmt.Errorf("%+v, %+v", s.TLS, s.Routes[0])
		}
		return nil
	})
	if routes := m.reeve("route", "list"); !strings.Contains(routes, "db.test/") {
		t.Errorf("routes:\n%s", routes)
	}
}
