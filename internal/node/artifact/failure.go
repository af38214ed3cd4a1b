// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

var errStalled = errors.New("the server sent no byte for too long")

// refuse makes an error that another attempt does not repair.
func refuse(format string, args ...any) error { return &Failure{Text: fmt.Sprintf(format, args...)} }

// A statusError is an answer that reports a failure.
type statusError struct{ status int }

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.status, http.StatusText(e.status))
}

// explain makes the failure that a user sees. It names the source without its secrets.
func explain(s *api.ArtifactSource, err error) *Failure {
	f := &Failure{Text: fmt.Sprintf("fetch %s: %v", Redact(s.URL), cause(err))}
	var own *Failure
	var status *statusError
	var dns *net.DNSError
	host := hostOf(s.URL)
	switch {
	case errors.As(err, &own):
		f.Text, f.Hint, f.Temporary = fmt.Sprintf("fetch %s: %s", Redact(s.URL), own.Text), own.Hint, own.Temporary
	case errors.As(err, &status):
		f.Temporary = status.status >= 500 || status.status == http.StatusTooManyRequests || status.status == http.StatusRequestTimeout
		f.Hint = statusHint(s, status.status, host)
	case errors.Is(err, context.DeadlineExceeded):
		f.Text, f.Temporary = fmt.Sprintf("fetch %s: it took longer than the time limit", Redact(s.URL)), true
		f.Hint = "check the connection to " + host + ", or raise the timeouts of the artifact block in the node's configuration"
	case isTLS(err):
		f.Hint = "correct the certificate of " + host + ", add its CA to the node's certificates, or set insecure = true"
	case errors.As(err, &dns):
		f.Temporary = !dns.IsNotFound
		f.Hint = "check the name " + host + " and the node's name servers"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		f.Temporary = true
		f.Hint = "check that the node can reach " + host + ": its address, port, routes and firewalls"
	case errors.Is(err, errStalled):
		f.Temporary = true
		f.Hint = "check the connection to " + host
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		f.Hint, f.Temporary = "free space on the node's disk", true
	default:
		f.Temporary = true
	}
	f.Text = api.Printable(f.Text, 600)
	return f
}

func statusHint(s *api.ArtifactSource, status int, host string) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if s.Scheme == api.ArtifactS3 {
			return "check bucket, key and region, and that aws_access_key_id may read the object"
		}
		return "check the credentials in the headers block or in the source"
	case status == http.StatusNotFound || status == http.StatusGone:
		return "check that " + host + " has the file"
	case status == http.StatusTooManyRequests:
		return "wait, or let fewer allocations fetch it: a checksum lets a node fetch it once"
	case status >= 500:
		return "check the state of " + host
	}
	return "open the source with curl from the node"
}

// cause removes the URL that net/http adds to its errors: it may hold secrets.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &record)
}

// Redact removes user, password and query of a source, which may hold secrets.
func Redact(source string) string {
	source, _, hasQuery := strings.Cut(source, "?")
	before, rest, hasScheme := strings.Cut(source, "://")
	if !hasScheme {
		before, rest = "", source
	}
	host, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	out := host
	if hasPath {
		out += "/" + path
	}
	if hasScheme {
		out = before + "://" + out
	}
	if hasQuery {
		out += "?..."
	}
	return api.Printable(out, 300)
}

func hostOf(source string) string {
	_, rest, hasScheme := strings.Cut(Redact(source), "://")
	if !hasScheme {
		host, _, _ := strings.Cut(Redact(source), ":")
		return host
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}
