// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// maxOutput bounds the recorded part of a probe's answer, in bytes.
const maxOutput = 1024

type prober struct {
	dialer  net.Dialer
	mu      sync.Mutex
	clients map[clientSettings]*http.Client
}

// clientSettings holds the settings of an HTTP client.
type clientSettings struct {
	http2, tls bool
	serverName string
	skipVerify bool // reports whether it skips the verification of certificates
}

func newProber() *prober { return &prober{clients: map[clientSettings]*http.Client{}} }

// client returns a client that opens a new connection for each probe: the check is to find
// out whether a connection can be opened.
func (p *prober) client(s clientSettings) *http.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clients[s]
	if c == nil {
		t := &http.Transport{
			DialContext: p.dialer.DialContext, DisableKeepAlives: true, DisableCompression: true,
			TLSClientConfig: &tls.Config{ServerName: s.serverName, InsecureSkipVerify: s.skipVerify}, TLSHandshakeTimeout: time.Minute,
		}
		if s.http2 {
			t.Protocols = new(http.Protocols)
			t.Protocols.SetHTTP2(s.tls)
			t.Protocols.SetUnencryptedHTTP2(!s.tls)
		}
		c = &http.Client{Transport: t}
		p.clients[s] = c
	}
	return c
}

func (p *prober) probe(ctx context.Context, t *Target) result {
	switch t.Check.Type {
	case api.CheckHTTP:
		return p.http(ctx, t)
	case api.CheckGRPC:
		return p.grpc(ctx, t)
	case api.CheckTCP:
		return p.tcp(ctx, t)
	case api.CheckScript:
		return p.script(ctx, t)
	}
	return result{kind: api.TroubleCheckFailed, output: fmt.Sprintf("checks of type %q are not supported", t.Check.Type)}
}

func (p *prober) tcp(ctx context.Context, t *Target) result {
	begun := time.Now()
	conn, err := p.dialer.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return unanswered(ctx, "tcp: connect to "+t.Address, begun, err)
	}
	conn.Close()
	return result{ok: true, output: "tcp: connected to " + t.Address + " in " + formatElapsed(begun)}
}

func (p *prober) http(ctx context.Context, t *Target) result {
	c := t.Check
	scheme := c.Protocol
	if scheme == "" {
		scheme = "http"
	}
	path := c.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	target, err := url.Parse(scheme + "://" + t.Address + path)
	if err != nil {
		return result{kind: api.TroubleCheckFailed, output: fmt.Sprintf("the check's path %q does not make a URL: %v", c.Path, err)}
	}
	var body io.Reader
	if c.Body != "" {
		body = strings.NewReader(c.Body)
	}
	method := c.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return result{kind: api.TroubleCheckFailed, output: err.Error()}
	}
	req.Header.Set("User-Agent", "Reeve Health Check")
	for k, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(k)] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	begun := time.Now()
	asked := "http: " + method + " " + target.String()
	client := p.client(clientSettings{tls: scheme == "https", serverName: c.TLSServerName, skipVerify: c.TLSSkipVerify})
	resp, err := client.Do(req)
	if err != nil {
		return unanswered(ctx, asked, begun, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	r := result{code: resp.StatusCode, ok: resp.StatusCode >= 200 && resp.StatusCode < 300, kind: api.TroubleCheckFailed}
	r.output = asked + ": " + resp.Status + " in " + formatElapsed(begun)
	if body := strings.TrimSpace(strings.ToValidUTF8(string(text), "")); body != "" && !r.ok {
		r.output += ": " + body
	}
	return r
}

func (p *prober) script(ctx context.Context, t *Target) result {
	if t.Exec == nil {
		return result{kind: api.TroubleCheckFailed, output: "the check's task is not running"}
	}
	var out limited
	begun := time.Now()
	code, err := t.Exec(ctx, append([]string{t.Check.Command}, t.Check.Args...), &out)
	if errors.Is(err, ErrGone) {
		return result{discard: true}
	}
	if err != nil {
		r := unanswered(ctx, "script: "+t.Check.Command, begun, err)
		r.code = code
		return r
	}
	text := strings.TrimSpace(strings.ToValidUTF8(out.String(), ""))
	if code != 0 || text == "" {
		text = strings.TrimSuffix(fmt.Sprintf("script: %s: exit code %d in %s: %s", t.Check.Command, code, formatElapsed(begun), text), ": ")
	}
	return result{ok: code == 0, code: code, output: text, kind: api.TroubleCheckFailed}
}

// unanswered returns the result of a probe without an answer.
func unanswered(ctx context.Context, asked string, begun time.Time, err error) result {
	return result{kind: troubleOf(ctx, err), output: explain(ctx, asked, begun, err)}
}

// explain describes why no answer arrived.
func explain(ctx context.Context, asked string, begun time.Time, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return asked + ": no answer within " + formatElapsed(begun)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		err = dial.Err // the address is already in the sentence
		var call *os.SyscallError
		if errors.As(err, &call) {
			err = call.Err
		}
	}
	return asked + ": " + err.Error()
}

// formatElapsed formats the time since begun, to a hundredth.
func formatElapsed(begun time.Time) string {
	d := time.Since(begun)
	for unit := time.Second; unit >= time.Microsecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// limited keeps the first maxOutput bytes that are written to it. A command writes its two
// outputs concurrently.
type limited struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := maxOutput - l.text.Len(); room > 0 {
		l.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
