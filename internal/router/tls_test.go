// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// A secureRouter is a router with HTTPS, and the authority of its certificates.
type secureRouter struct {
	*running
	ca  *testcert.Authority
	dir string
}

// startSecure starts a router with one certificate.
func (e engine) startSecure(t *testing.T, config Config, names ...string) *secureRouter {
	t.Helper()
	ca, dir := testcert.New(t), t.TempDir()
	cert, key := ca.Files(dir, "web", ca.Issue(time.Now().Add(time.Hour), names...))
	config.HTTPSAddr = "127.0.0.1:0"
	config.Certificates = []certs.Source{{Cert: cert, Key: key}}
	return &secureRouter{e.start(t, config), ca, dir}
}

// client returns a client that sends all requests to the router.
func (r *secureRouter) client(http2 bool) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: r.ca.Pool()}, ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, r.SecureAddr())
		},
	}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: deadline, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ask sends a request for a host in a connection for a name, and returns the status.
func (r *secureRouter) ask(http2 bool, name, host string) int {
	r.t.Helper()
	q, err := http.NewRequest(http.MethodGet, "https://"+name+"/", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Host = host
	a, err := r.client(http2).Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	io.Copy(io.Discard, a.Body)
	return a.StatusCode
}

// handshake connects for a name.
func (r *secureRouter) handshake(name string, change ...func(*tls.Config)) (*tls.Conn, error) {
	r.t.Helper()
	config := &tls.Config{RootCAs: r.ca.Pool(), ServerName: name}
	for _, c := range change {
		c(config)
	}
	nc, err := tls.DialWithDialer(&net.Dialer{Timeout: deadline}, "tcp", r.SecureAddr(), config)
	if err != nil {
		return nil, err
	}
	r.t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(deadline))
	return nc, nil
}

func tlsMode(mode string) func(*api.Route) {
	return func(r *api.Route) {
		if r.TLS == nil {
			r.TLS = &api.RouteTLS{Mode: api.TLSTerminate}
		}
		if r.TLS.Mode = mode; mode == api.TLSPassthrough {
			r.Protocol, r.Path = api.RouteTCP, ""
		}
	}
}

func redirect(r *api.Route) {
	if r.TLS == nil {
		r.TLS = &api.RouteTLS{Mode: api.TLSTerminate}
	}
	r.TLS.Redirect = true
}

func TestRouterTLSTerminates(t *testing.T) { onEachEngine(t, testRouterTLSTerminates) }

func testRouterTLSTerminates(t *testing.T, on engine) {
	r := on.startSecure(t, Config{}, "web.test", "*.apps.test", "127.0.0.1")
	instance := serve(t, func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		fmt.Fprintf(w, "%s %s proto=%s forwarded=%s body=%s", q.Method, q.URL, q.Header.Get("X-Forwarded-Proto"), q.Header.Get("Forwarded"), body)
	})
	r.add("a1", instance, route(host("web.test"), sticky("stay")), route(host("*.apps.test")))
	for _, http2 := range []bool{false, true} {
		client := r.client(http2)
		for _, name := range []string{"web.test", "x.apps.test"} {
			q, _ := http.NewRequest(http.MethodPost, "https://"+name+"/p?q=1", strings.NewReader("hello"))
			q.Header.Set("X-Forwarded-Proto", "http") // of a client that is not trusted
			a, err := client.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(a.Body)
			a.Body.Close()
			want := `POST /p?q=1 proto=https forwarded=for=127.0.0.1;host="` + name + `";proto=https body=hello`
			if string(text) != want || a.ProtoMajor != map[bool]int{true: 2, false: 1}[http2] {
				t.Errorf("over HTTP/%d, %q, want %q", a.ProtoMajor, text, want)
			}
			if cookie := a.Header.Get("Set-Cookie"); name == "web.test" && !strings.Contains(cookie, "; Secure") {
				t.Errorf("cookie %q is sent over plain HTTP, too", cookie)
			}
		}
	}
	// Without a name, the certificate of the address serves.
	nc, err := r.handshake("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(nc, "GET /plain HTTP/1.1\r\nHost: web.test\r\n\r\n")
	if a, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || a.StatusCode != 200 {
		t.Errorf("%v, %v", a, err)
	}
	if s := r.Status(); s.TLS.Terminated != 5 || s.HTTPS != r.SecureAddr() || len(s.Certificates) != 1 || s.Certificates[0].Problem != "" || s.Certificates[0].Expires == 0 {
		t.Errorf("status %+v, certificates %+v", s.TLS, s.Certificates)
	}
}

func TestRouterTLSUpgrades(t *testing.T) { onEachEngine(t, testRouterTLSUpgrades) }

func testRouterTLSUpgrades(t *testing.T, on engine) {
	r := on.startSecure(t, Config{}, "web.test")
	instance := serve(t, func(w http.ResponseWriter, q *http.Request) {
		nc, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		fmt.Fprintf(nc, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
		word, _ := buffered.ReadString('\n')
		io.WriteString(nc, "echo "+word)
	})
	r.add("a1", instance, route(host("web.test")))
	nc, err := r.handshake("web.test")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(nc, "GET / HTTP/1.1\r\nHost: web.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
	from := bufio.NewReader(nc)
	if a, err := http.ReadResponse(from, nil); err != nil || a.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", a, err)
	}
	io.WriteString(nc, "word\n")
	if got, err := from.ReadString('\n'); got != "echo word\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRouterTLSHasNoCertificateForOtherNames(t *testing.T) {
	r := fast.startSecure(t, Config{}, "web.test")
	r.add("a1", says(t, "hello"), route())
	for _, name := range []string{"other.test", "x.web.test", "", strings.Repeat("a", 200) + ".test"} {
		_, err := r.handshake(name, func(c *tls.Config) { c.InsecureSkipVerify = true })
		if err == nil || !strings.Contains(err.Error(), "tls: unrecognized name") {
			t.Errorf("%q: %v, want the alert unrecognized name", name, err)
		}
	}
	eventually(t, "the handshakes are counted", func() bool { return r.Status().TLS.UnknownName == 4 })
	// A session of one name does not open another name.
	cache := tls.NewLRUClientSessionCache(1)
	resumes := func(c *tls.Config) { c.ClientSessionCache = oneSession{cache} }
	first, err := r.handshake("web.test", resumes)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(first, "GET / HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n")
	io.ReadAll(first)
	again, err := r.handshake("web.test", resumes)
	if err != nil || !again.ConnectionState().DidResume {
		t.Fatalf("the session was not resumed: %v", err)
	}
	if _, err := r.handshake("other.test", resumes, func(c *tls.Config) { c.InsecureSkipVerify = true }); err == nil {
		t.Error("a session of web.test was resumed for other.test")
	}
}

// oneSession is a cache with the same session for all names.
type oneSession struct{ tls.ClientSessionCache }

func (c oneSession) Get(string) (*tls.ClientSessionState, bool) { return c.ClientSessionCache.Get("") }
func (c oneSession) Put(_ string, s *tls.ClientSessionState)    { c.ClientSessionCache.Put("", s) }

func TestRouterTLSOldVersionsAreRefused(t *testing.T) {
	r := fast.startSecure(t, Config{}, "web.test")
	_, err := r.handshake("web.test", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	if err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
	eventually(t, "the handshake is counted", func() bool { return r.Status().TLS.Failed == 1 })
}

func TestRouterTLSRedirects(t *testing.T) { onEachEngine(t, testRouterTLSRedirects) }

func testRouterTLSRedirects(t *testing.T, on engine) {
	r := on.startSecure(t, Config{HTTPSPort: 443}, "web.test")
	at := says(t, "hello")
	r.add("a1", at, route(host("web.test"), redirect), route(host("web.test"), path("/open")), route(host("*.apps.test"), redirect), route())
	r.add("a2", at, route(host("db.test"), tlsMode(api.TLSPassthrough), redirect))
	for _, test := range []struct{ target, want string }{
		{"web.test/a/b?c=d&e=%2f", "https://web.test/a/b?c=d&e=%2f"},
		{"WEB.test:8080/", "https://web.test/"},
		{"web.test//evil.example/%2e%2e", "https://web.test//evil.example/%2e%2e"},
		{"x.apps.test/?", "https://x.apps.test/?"},
		{"db.test/x", "https://db.test/x"},
		{"web.test/open/x", ""},
		{"evil.example/", ""}, // the route for any host
		{"127.0.0.1/", ""},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			a := r.do(method, test.target, nil)
			if a.header.Get("Location") != test.want || (a.status == http.StatusPermanentRedirect) != (test.want != "") {
				t.Errorf("%s %s: status %d to %q, want %q", method, test.target, a.status, a.header.Get("Location"), test.want)
			}
		}
	}
	// Requests within TLS are served.
	if status := r.ask(true, "web.test", "web.test"); status != 200 {
		t.Errorf("status %d", status)
	}
	// A head cannot smuggle lines into the redirect, nor choose its host.
	for _, head := range []string{
		"GET /a\rX:y HTTP/1.1\r\nHost: web.test\r\n\r\n", "GET http://evil.example/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: web.test@evil.example\r\n\r\n", "GET / HTTP/1.1\r\nHost: web.test\r\nX-Forwarded-Host: evil.example\r\n\r\n",
	} {
		l := r.dial()
		l.send("%s", head)
		got := l.read("GET")
		if to := got.header.Get("Location"); to != "" && !strings.HasPrefix(to, "https://web.test/") || got.header.Get("X") != "" {
			t.Errorf("%q: redirected to %q", head, to)
		}
	}
}

// A proxy in front of the router that received HTTPS must not be redirected again and again.
func TestRouterTLSTrustedProxiesAreNotRedirected(t *testing.T) {
	onEachEngine(t, testProxiesAreNotRedirected)
}

func testProxiesAreNotRedirected(t *testing.T, on engine) {
	r := on.start(t, Config{Trusted: privateNetworks})
	r.add("a1", says(t, "hello"), route(host("web.test"), redirect))
	if status, _ := r.get("web.test/", func(q *http.Request) { q.Header.Set("X-Forwarded-Proto", "https") }); status != 200 {
		t.Errorf("status %d", status)
	}
	if a := r.do(http.MethodGet, "web.test/", nil); a.header.Get("Location") != "https://web.test/" {
		t.Errorf("status %d to %q", a.status, a.header.Get("Location"))
	}
}

// tlsInstance is an instance that decrypts itself, and answers each connection with a line.
func tlsInstance(t *testing.T, ca *testcert.Authority, name string) string {
	t.Helper()
	p := ca.Issue(time.Now().Add(time.Hour), name)
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(deadline))
				word, err := bufio.NewReader(nc).ReadString('\n')
				if err == nil {
					io.WriteString(nc, "instance "+name+" heard "+word)
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestRouterTLSPassthrough(t *testing.T) {
	r := fast.startSecure(t, Config{}, "web.test", "exact.apps.test", "*.test")
	db, apps := tlsInstance(t, r.ca, "db.test"), tlsInstance(t, r.ca, "*.apps.test")
	r.add("a1", db, route(host("db.test"), tlsMode(api.TLSPassthrough)))
	r.add("a2", apps, route(host("*.apps.test"), tlsMode(api.TLSPassthrough)))
	web := says(t, "hello")
	r.add("a3", web, route(host("web.test")), route(host("exact.apps.test")))
	for name, want := range map[string]string{"db.test": "db.test", "DB.test": "db.test", "x.apps.test": "*.apps.test"} {
		nc, err := r.handshake(name, func(c *tls.Config) { c.NextProtos = []string{"postgresql"} })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		io.WriteString(nc, "word\n")
		got, err := io.ReadAll(nc)
		if string(got) != "instance "+want+" heard word\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		nc.Close()
	}
	// An exact host precedes a wildcard that is passed on.
	if status := r.ask(false, "exact.apps.test", "exact.apps.test"); status != 200 {
		t.Errorf("status %d", status)
	}
	// A request for the host in a connection for another host must not reach anything.
	for _, http2 := range []bool{false, true} {
		if status := r.ask(http2, "web.test", "db.test"); status != http.StatusMisdirectedRequest {
			t.Errorf("status %d", status)
		}
	}
	eventually(t, "the connections are counted", func() bool { return r.Status().TLS.Passed == 3 })
	var last *api.RouterRoute
	eventually(t, "the connections to one host are counted", func() bool {
		for _, s := range r.Status().Routes {
			if s.Host == "db.test" {
				last = s
			}
		}
		return last.Requests == 2
	})
	if last.TLS != api.TLSPassthrough || last.BytesIn < 100 || last.Listen != 0 || last.Path != "" {
		t.Errorf("status %+v", last)
	}
	// Without an instance, the connection is reset. A new route for requests takes the name over.
	r.remove("a1")
	if _, err := r.handshake("db.test"); err == nil {
		t.Error("a handshake succeeded without an instance")
	}
}

func TestRouterTLSStopsAfterRequestsInFlight(t *testing.T) {
	onEachEngine(t, testStopsAfterSecureRequests)
}

func testStopsAfterSecureRequests(t *testing.T, on engine) {
	for _, http2 := range []bool{false, true} {
		r := on.startSecure(t, Config{DrainTimeout: deadline}, "web.test")
		arrived, answer := make(chan struct{}), make(chan struct{})
		r.add("a1", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			close(arrived)
			<-answer
			io.WriteString(w, "done")
		}), route(host("web.test")))
		idle, err := r.handshake("web.test")
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		client := r.client(http2)
		go func() {
			a, err := client.Get("https://web.test/")
			if err == nil {
				var text []byte
				if text, err = io.ReadAll(a.Body); string(text) != "done" {
					err = fmt.Errorf("%q, %v", text, err)
				}
				a.Body.Close()
			}
			got <- err
		}()
		<-arrived
		stopped := make(chan struct{})
		go func() { r.stop(); close(stopped) }()
		if _, err := io.ReadAll(idle); err != nil && isTimeout(err) {
			t.Error("an unused connection keeps the router")
		}
		close(answer)
		if err := <-got; err != nil {
			t.Errorf("HTTP/2 %v: the request in flight failed: %v", http2, err)
		}
		<-stopped
	}
}

func TestRouterTLSCertificatesAreReplacedUnderLoad(t *testing.T) {
	r := fast.startSecure(t, Config{}, "web.test")
	r.add("a1", says(t, "hello"), route(host("web.test")))
	kept := r.client(true)
	for i := range 40 {
		if i%10 == 5 {
			r.ca.Files(r.dir, "web", r.ca.Issue(time.Now().Add(time.Hour), "web.test"))
			r.secure.certs.Reload(time.Now())
		}
		for _, client := range []*http.Client{kept, r.client(i%2 == 0)} {
			a, err := client.Get("https://web.test/")
			if err != nil || a.StatusCode != 200 {
				t.Fatalf("request %d: %v, %v", i, a, err)
			}
			io.Copy(io.Discard, a.Body)
			a.Body.Close()
		}
	}
	if s := r.Status(); s.TLS.Terminated != 41 || s.TLS.Failed != 0 {
		t.Errorf("%+v, want one handshake of the client that keeps its connection", s.TLS)
	}
}
