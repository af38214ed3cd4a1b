// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/secretfile"
)

const (
	// DefaultTimeout is the limit of one delivery.
	DefaultTimeout = 15 * time.Second

	maxHeaderFile = 16 << 10
	maxCAFile     = 1 << 20
	maxAsked      = 5 * time.Minute // that a receiver's Retry-After is heeded for
)

// HTTP configures a collector that takes records by HTTP.
type HTTP struct {
	URL        string // https, or http on loopback
	CAFile     string // PEM of the authorities that verify the collector; "": those of the machine
	HeaderFile string // lines "Name: value" that every request gets; "": none
	Timeout    time.Duration
	Server     string // name of this server
}

type collector struct {
	HTTP
	client *http.Client
	target string
}

// NewHTTP returns a receiver that posts batches of JSON lines.
func NewHTTP(c HTTP) (Receiver, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("url: write it as https://HOST/PATH")
	case u.User != nil:
		return nil, errors.New("url: it contains a user: put the secret into header_file, as in `Authorization: Basic ...`")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, errors.New("url: records would cross the network in clear: use https, or a loopback address")
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: c.Timeout}).DialContext, TLSHandshakeTimeout: c.Timeout,
		ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.CAFile != "" {
		pem, err := secretfile.ReadExternal(c.CAFile, 0o002, maxCAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s contains no certificate in PEM", c.CAFile)
		}
	}
	out := &collector{HTTP: c, target: u.Scheme + "://" + u.Host + u.EscapedPath()}
	out.client = &http.Client{
		Transport: t, Timeout: c.Timeout,
		// Records and the secret in a header go where the configuration says, and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return out, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// header reads the header file, each time: a new secret needs no restart. No error contains what it says.
func (c *collector) header() (http.Header, error) {
	h := http.Header{}
	if c.HeaderFile == "" {
		return h, nil
	}
	text, err := secretfile.ReadExternal(c.HeaderFile, 0o007, maxHeaderFile)
	if err != nil {
		return nil, fmt.Errorf("header_file: %w", err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || !isHeaderName(name) || !isPlain(value) {
			return nil, fmt.Errorf("header_file: %s:%d: write each line as NAME: VALUE, such as Authorization: Bearer SECRET", c.HeaderFile, number)
		}
		h.Add(name, value)
	}
	return h, nil
}

// Target implements Receiver. It leaves out the query, which may contain a secret.
func (c *collector) Target() string { return c.target }

// Deliver implements Receiver.
func (c *collector) Deliver(ctx context.Context, b auditlog.Batch) error {
	header, err := c.header()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(b.Lines))
	if err != nil {
		return errors.New("url: it is not valid")
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("User-Agent", "reeve")
	req.Header.Set("X-Reeve-Server", strings.Trim(strconv.QuoteToASCII(c.Server), `"`))
	req.Header.Set("X-Reeve-Audit-From", b.From.String())
	req.Header.Set("X-Reeve-Audit-Next", b.Next.String())
	req.Header.Set("X-Reeve-Audit-Records", strconv.Itoa(b.Records))
	res, err := c.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, which is shown beside it
		}
		return err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	if res.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("the collector answers %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	if res.StatusCode/100 == 3 {
		err = fmt.Errorf("%w: redirects are not followed: correct url", err)
	}
	seconds, parseErr := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16)
	if parseErr != nil {
		return err
	}
	return &pause{err, min(time.Duration(seconds)*time.Second, maxAsked)}
}

// Close implements Receiver.
func (c *collector) Close() { c.client.CloseIdleConnections() }

func isHeaderName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && !('0' <= r && r <= '9') && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z')
	}) < 0
}

// isPlain reports whether a text has no control characters, which could end a header.
func isPlain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
