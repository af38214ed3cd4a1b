// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the wait for what must happen.
const patience = 30 * time.Second

// newCertificate returns a certificate that no authority signed.
func newCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// newTLS returns the configuration of a port that asks for client certificates.
func newTLS(t *testing.T) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{newCertificate(t)}, ClientAuth: tls.RequestClientCert,
		NextProtos: []string{Raft, "reeve-other/1", "h2", "http/1.1"},
	}
}

// open opens a port on loopback that change configures.
func open(t *testing.T, c Config, change ...func(*Port)) *Port {
	t.Helper()
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	listeners, err := listen(c.Addr, includesLoopback)
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(c)
	for _, f := range change {
		f(p)
	}
	p.serve(listeners...)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// serveHTTP serves requests of the port with the protocol that they came by.
func serveHTTP(t *testing.T, p *Port) {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Protocols: &protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s tls=%v certificates=%d", r.Proto, r.TLS != nil, certificates(r))
	})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(p.HTTP()) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
}

func certificates(r *http.Request) int {
	if r.TLS == nil {
		return 0
	}
	return len(r.TLS.PeerCertificates)
}

// elsewhere makes a port treat its callers as those of other machines.
func elsewhere(p *Port) { p.isLocal = func(net.Conn) bool { return false } }

func dial(t *testing.T, p *Port) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// waitClosed fails unless the other side closes the connection.
func waitClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the connection stays open")
	}
}

func get(t *testing.T, transport *http.Transport, url string) string {
	t.Helper()
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func transportFor(protocol string, config *tls.Config) *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), TLSClientConfig: config}
	switch protocol {
	case "h1":
		t.Protocols.SetHTTP1(true)
	case "h2":
		t.Protocols.SetHTTP2(true)
	case "h2c":
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	return t
}

func TestHTTPWithAndWithoutTLSOnOnePort(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)})
	serveHTTP(t, p)
	trusting := &tls.Config{InsecureSkipVerify: true}
	member := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{newCertificate(t)}}
	for _, c := range []struct {
		scheme, protocol string
		config           *tls.Config
		want             string
	}{
		{"http", "h1", nil, "HTTP/1.1 tls=false certificates=0"},
		{"http", "h2c", nil, "HTTP/2.0 tls=false certificates=0"},
		{"https", "h1", trusting, "HTTP/1.1 tls=true certificates=0"},
		{"https", "h2", trusting, "HTTP/2.0 tls=true certificates=0"},
		{"https", "h2", member, "HTTP/2.0 tls=true certificates=1"},
	} {
		if got := get(t, transportFor(c.protocol, c.config), c.scheme+"://"+p.Addr()); got != c.want {
			t.Errorf("%s by %s: got %q, want %q", c.scheme, c.protocol, got, c.want)
		}
	}
}

func TestAPortWithoutTLSServesPlainHTTPEverywhere(t *testing.T) {
	p := open(t, Config{}, elsewhere)
	serveHTTP(t, p)
	if got := get(t, transportFor("h1", nil), "http://"+p.Addr()); got != "HTTP/1.1 tls=false certificates=0" {
		t.Errorf("got %q", got)
	}
}

func TestAPlainCallerOfAnotherMachineIsToldWhatToDo(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, elsewhere)
	serveHTTP(t, p)
	conn := dial(t, p)
	fmt.Fprintf(conn, "PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nX-Reeve:")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "https://"+p.Addr()) || !strings.Contains(string(text), "`reeve login`") {
		t.Errorf("got %d %q, want 400 that names https:// and reeve login", resp.StatusCode, text)
	}
	waitClosed(t, conn)
}

func TestGarbageIsNotAnswered(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, elsewhere)
	serveHTTP(t, p)
	for _, garbage := range []string{"\x00\x01\x02", "\x80garbage", "hello", "\r\n"} {
		conn := dial(t, p)
		io.WriteString(conn, garbage)
		if text, _ := io.ReadAll(conn); len(text) > 0 {
			t.Errorf("%q: got %q, want nothing", garbage, text)
		}
	}
	broken := dial(t, p)
	io.WriteString(broken, "\x16\x03\x01\x00\x05hello") // begins as TLS
	waitClosed(t, broken)
}

func TestStreamsNeedTheirProtocolAndACertificate(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)})
	serveHTTP(t, p)
	raft := p.Stream(Raft)
	certificate := []tls.Certificate{newCertificate(t)}
	for _, c := range []struct {
		what   string
		config *tls.Config
	}{
		{"no certificate", &tls.Config{NextProtos: []string{Raft}}},
		{"a protocol that nobody serves", &tls.Config{NextProtos: []string{"reeve-other/1"}, Certificates: certificate}},
		{"an unknown protocol", &tls.Config{NextProtos: []string{"reeve-raft/2"}, Certificates: certificate}},
		{"TLS 1.2", &tls.Config{NextProtos: []string{Raft}, Certificates: certificate, MaxVersion: tls.VersionTLS12}},
	} {
		c.config.InsecureSkipVerify = true
		conn := tls.Client(dial(t, p), c.config)
		if conn.Handshake() == nil {
			waitClosed(t, conn)
		}
	}
	conn := tls.Client(dial(t, p), &tls.Config{NextProtos: []string{Raft}, Certificates: certificate, InsecureSkipVerify: true})
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	accepted, err := raft.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	secured, ok := accepted.(*tls.Conn)
	if !ok || !secured.ConnectionState().HandshakeComplete || secured.ConnectionState().NegotiatedProtocol != Raft || len(secured.ConnectionState().PeerCertificates) != 1 {
		t.Fatalf("the first accepted connection is not the one with protocol and certificate: %T", accepted)
	}
	io.WriteString(conn, "append")
	got := make([]byte, 6)
	if _, err := io.ReadFull(accepted, got); err != nil || string(got) != "append" {
		t.Errorf("the stream carries %q, %v; want append", got, err)
	}
}

// TestSlowCallersLoseTheirConnection covers callers that send nothing, or part of a handshake.
func TestSlowCallersLoseTheirConnection(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, func(p *Port) { p.timeout = 50 * time.Millisecond })
	serveHTTP(t, p)
	for _, part := range []string{"", "\x16", "\x16\x03\x01\x02\x00\x01"} {
		conn := dial(t, p)
		io.WriteString(conn, part)
		waitClosed(t, conn)
	}
	wait.Until(t, "no connection is unfinished", func() bool { return p.unfinished.count() == 0 })
}

func TestADripOfBytesDoesNotExtendTheDeadline(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, func(p *Port) { p.timeout = 100 * time.Millisecond })
	serveHTTP(t, p)
	conn := dial(t, p)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		io.Copy(io.Discard, conn)
	}()
	hello := "\x16\x03\x01\x02\x00" + strings.Repeat("\x01", 512)
	for i := range hello {
		if _, err := io.WriteString(conn, hello[i:i+1]); err != nil {
			break
		}
		wait.Pass(t.Context(), 5*time.Millisecond) // half the deadline's time in 10 bytes
	}
	select {
	case <-closed:
	case <-wait.Limit(t, patience):
		t.Fatal("the connection stays open")
	}
}

func TestAServedConnectionHasNoDeadline(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, func(p *Port) { p.timeout = 200 * time.Millisecond })
	for _, secure := range []bool{false, true} {
		conn := dial(t, p)
		if secure {
			conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		}
		io.WriteString(conn, "G")
		accepted, err := p.HTTP().Accept()
		if err != nil {
			t.Fatal(err)
		}
		wait.Pass(t.Context(), 2*p.timeout)
		io.WriteString(conn, "ET")
		got := make([]byte, 3)
		if _, err := io.ReadFull(accepted, got); err != nil || string(got) != "GET" {
			t.Errorf("tls %v: got %q, %v after the time of a handshake; want GET", secure, got, err)
		}
		accepted.Close()
	}
}

func TestTooManyUnfinishedConnectionsCloseTheOldest(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)}, func(p *Port) { p.unfinished = newUnfinished(3) })
	serveHTTP(t, p)
	var silent []net.Conn
	for i := range 5 {
		silent = append(silent, dial(t, p))
		wait.Until(t, "the connection is accepted", func() bool { return p.unfinished.count() == min(i+1, 3) })
		if i >= 3 {
			waitClosed(t, silent[i-3])
		}
	}
	if got := get(t, transportFor("h1", nil), "http://"+p.Addr()); !strings.HasPrefix(got, "HTTP/1.1") {
		t.Errorf("a caller beside silent ones got %q", got)
	}
}

// A failing listener has no file descriptors for its first connections.
type failing struct {
	net.Listener
	mu    sync.Mutex
	fails int
}

func (f *failing) Accept() (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails > 0 {
		f.fails--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

func TestAcceptRecoversFromALackOfDescriptors(t *testing.T) {
	listeners, err := listen("127.0.0.1:0", includesLoopback)
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(Config{TLS: newTLS(t)})
	p.serve(&failing{Listener: listeners[0], fails: 4})
	defer p.Close()
	serveHTTP(t, p)
	if got := get(t, transportFor("h1", nil), "http://"+p.Addr()); !strings.HasPrefix(got, "HTTP/1.1") {
		t.Errorf("got %q", got)
	}
}

func TestCloseReleasesAll(t *testing.T) {
	p, err := Listen(Config{Addr: "127.0.0.1:0", TLS: newTLS(t)})
	if err != nil {
		t.Fatal(err)
	}
	silent, waiting := dial(t, p), dial(t, p)
	io.WriteString(waiting, "GET") // waits for a server that does not accept
	half := dial(t, p)
	io.WriteString(half, "\x16\x03\x01")
	wait.Until(t, "all connections are accepted", func() bool { return p.unfinished.count() == 3 })
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{silent, waiting, half} {
		waitClosed(t, conn)
	}
	for _, l := range []net.Listener{p.HTTP(), p.Stream(Raft)} {
		if conn, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept after Close: %v, %v; want net.ErrClosed", conn, err)
		}
	}
	again, err := Listen(Config{Addr: p.Addr(), TLS: newTLS(t)})
	if err != nil {
		t.Fatalf("the address is still in use: %v", err)
	}
	again.Close()
}

func TestAClosedListenerLeavesTheOthers(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)})
	if err := p.HTTP().Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.HTTP().Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept of a closed listener: %v, want net.ErrClosed", err)
	}
	conn := dial(t, p)
	io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n")
	waitClosed(t, conn)
	raft := p.Stream(Raft)
	secured := tls.Client(dial(t, p), &tls.Config{NextProtos: []string{Raft}, Certificates: []tls.Certificate{newCertificate(t)}, InsecureSkipVerify: true})
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	accepted, err := raft.Accept()
	if err != nil {
		t.Fatal(err)
	}
	accepted.Close()
}

func TestAnAddressWithoutLoopbackIsServedOnLoopbackToo(t *testing.T) {
	for addr, want := range map[string]bool{
		"0.0.0.0": true, "::": true, "127.0.0.1": true, "127.0.0.7": true, "::1": true, "::ffff:127.0.0.1": true,
		"10.0.0.5": false, "fd00::5": false, "::ffff:10.0.0.5": false,
	} {
		if got := includesLoopback(&net.TCPAddr{IP: net.ParseIP(addr), Port: 4646}); got != want {
			t.Errorf("%s includes loopback: %v, want %v", addr, got, want)
		}
	}
	listeners, err := listen("127.0.0.2:0", func(net.Addr) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(Config{TLS: newTLS(t)})
	p.serve(listeners...)
	defer p.Close()
	serveHTTP(t, p)
	_, number, _ := net.SplitHostPort(p.Addr())
	for _, at := range []string{p.Addr(), "127.0.0.1:" + number} {
		if got := get(t, transportFor("h1", nil), "http://"+at); !strings.HasPrefix(got, "HTTP/1.1") {
			t.Errorf("%s: got %q", at, got)
		}
	}
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	p := open(t, Config{TLS: newTLS(t)})
	_, number, _ := net.SplitHostPort(p.Addr())
	for what, addr := range map[string]string{"the address": p.Addr(), "the address beside": "127.0.0.2:" + number} {
		listeners, err := listen(addr, func(net.Addr) bool { return false })
		for _, l := range listeners {
			l.Close()
		}
		if api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), p.Addr()) || !strings.Contains(err.Error(), "-http-addr") {
			t.Errorf("%s is taken: got %v", what, err)
		}
	}
	if _, err := Listen(Config{Addr: "nowhere"}); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("an address without a port: got %v, want invalid", err)
	}
}

func TestWhoIsLocal(t *testing.T) {
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"127.0.0.1:1", "127.0.0.1:2", true}, {"[::1]:1", "[::1]:2", true}, {"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:2", true},
		{"10.0.0.5:1", "10.0.0.5:2", false}, {"127.0.0.1:1", "10.0.0.6:2", false}, {"10.0.0.5:1", "127.0.0.1:2", false}, {"@", "@", false},
	} {
		if got := isLocal(addressed{local: c.local, remote: c.remote}); got != c.want {
			t.Errorf("%s from %s is local: %v, want %v", c.local, c.remote, got, c.want)
		}
	}
}

// addressed is a connection between two addresses.
type addressed struct {
	net.Conn
	local, remote string
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

func (a addressed) LocalAddr() net.Addr  { return address(a.local) }
func (a addressed) RemoteAddr() net.Addr { return address(a.remote) }

// count returns the number of connections.
func (u *unfinished) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.places)
}
