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
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// maxOutput bounds what is kept of a probe's answer, in bytes.
const maxOutput = 1024

type prober struct {
	dialer   net.Dialer
	verified *http.Client
	trusting *http.Client // does not verify certificates
}

func newProber() *prober {
	p := &prober{}
	p.verified = p.client(&tls.Config{})
	p.trusting = p.client(&tls.Config{InsecureSkipVerify: true})
	return p
}

// client makes a new connection for each probe: whether one can be made is
// what a check is for.
func (p *prober) client(c *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: p.dialer.DialContext, TLSClientConfig: c, DisableKeepAlives: true, DisableCompression: true,
		TLSHandshakeTimeout: time.Minute,
	}}
}

func (p *prober) probe(ctx context.Context, t *Target) result {
	switch t.Check.Type {
	case api.CheckHTTP:
		return p.http(ctx, t)
	case api.CheckTCP:
		return p.tcp(ctx, t)
	case api.CheckScript:
		return p.script(ctx, t)
	}
	return result{output: fmt.Sprintf("checks of type %q are not supported", t.Check.Type)}
}

func (p *prober) tcp(ctx context.Context, t *Target) result {
	conn, err := p.dialer.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return result{output: explain(ctx, t, err)}
	}
	conn.Close()
	return result{ok: true, output: "tcp: connected to " + t.Address}
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
		return result{output: fmt.Sprintf("the check's path %q does not make a URL: %v", c.Path, err)}
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
		return result{output: err.Error()}
	}
	req.Header.Set("User-Agent", "Reeve Health Check")
	for k, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(k)] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	client := p.verified
	switch {
	case c.TLSServerName != "":
		client = p.client(&tls.Config{ServerName: c.TLSServerName, InsecureSkipVerify: c.TLSSkipVerify})
	case c.TLSSkipVerify:
		client = p.trusting
	}
	resp, err := client.Do(req)
	if err != nil {
		return result{output: explain(ctx, t, err)}
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	r := result{code: resp.StatusCode, ok: resp.StatusCode >= 200 && resp.StatusCode < 300}
	r.output = fmt.Sprintf("http: %s %s: %s", method, target, resp.Status)
	if body := strings.TrimSpace(strings.ToValidUTF8(string(text), "")); body != "" && !r.ok {
		r.output += ": " + body
	}
	return r
}

func (p *prober) script(ctx context.Context, t *Target) result {
	if t.Exec == nil {
		return result{output: "the check's task is not running"}
	}
	var out limited
	code, err := t.Exec(ctx, append([]string{t.Check.Command}, t.Check.Args...), &out)
	if err != nil {
		return result{code: code, output: explain(ctx, t, err)}
	}
	text := strings.TrimSpace(strings.ToValidUTF8(out.String(), ""))
	if text == "" {
		text = fmt.Sprintf("script: exit code %d", code)
	}
	return result{ok: code == 0, code: code, output: text}
}

func explain(ctx context.Context, t *Target, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("%s: no answer within %s", t.Check.Type, t.Check.Timeout)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return t.Check.Type + ": " + err.Error()
}

// limited keeps the first maxOutput bytes written to it; a command's two
// outputs are written at once.
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
