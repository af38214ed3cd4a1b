// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// An Error says which image could not be read from which registry, and what to check.
type Error struct {
	Image  string
	Status int // of the response; 0: none
	Err    error
	Hint   string // imperative
}

func (e *Error) Error() string {
	text := fmt.Sprintf("pull %s: %v", e.Image, e.Err)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// errStalled ends a connection on which no byte arrived for a while.
var errStalled = errors.New("the registry sent no byte for too long")

// A statusError is a response that reports a failure.
type statusError struct {
	status     int
	message    string
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the registry answered %d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		text += " (" + e.message + ")"
	}
	return text
}

// maxRetryAfter bounds how long a registry can make a pull wait between two attempts.
const maxRetryAfter = 2 * time.Minute

// readStatus reads the failure that a response reports.
func readStatus(resp *http.Response) *statusError {
	e := &statusError{status: resp.StatusCode}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.retryAfter = min(time.Duration(min(s, 3600))*time.Second, maxRetryAfter)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<10))
	var body struct {
		Errors []struct{ Code, Message string }
	}
	if err == nil && json.Unmarshal(text, &body) == nil && len(body.Errors) > 0 {
		e.message = printable(strings.TrimSpace(body.Errors[0].Code+" "+body.Errors[0].Message), 200)
	}
	return e
}

// printable makes text of a registry or program fit into a message.
func printable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "..."
	}
	return text
}

// status returns the status of the failed response, 0 without one.
func status(err error) int {
	var own *statusError
	if errors.As(err, &own) {
		return own.status
	}
	var login *transport.Error
	if errors.As(err, &login) {
		return login.StatusCode
	}
	return 0
}

// isTemporary reports whether another attempt can succeed.
func isTemporary(err error) bool {
	if code := status(err); code != 0 {
		return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500
	}
	var fatal *fatalError
	var dns *net.DNSError
	return !errors.As(err, &fatal) && !isTLS(err) && !(errors.As(err, &dns) && dns.IsNotFound)
}

// A fatalError cannot be repaired by another attempt.
type fatalError struct{ text string }

func (e *fatalError) Error() string { return e.text }

func fatal(format string, args ...any) error { return &fatalError{fmt.Sprintf(format, args...)} }

func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &record)
}

// Explain adds the image and a hint to an error.
func Explain(ref Reference, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Image: ref.String(), Status: status(err), Err: err}
	var dns *net.DNSError
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		e.Hint = "check that the image exists, and that the credentials for " + ref.Registry + " may pull it"
	case e.Status == http.StatusNotFound:
		e.Hint = fmt.Sprintf("check that %s has the repository %s, and in it %s", ref.Registry, ref.Repository, ref.named())
	case e.Status == http.StatusTooManyRequests:
		e.Hint = "wait, or pull with the credentials of an account with a higher limit"
	case e.Status >= 500:
		e.Hint = "check the state of " + ref.Registry + ", and try again"
	case isTLS(err):
		e.Hint = "add the registry's CA to the node's trusted certificates, or correct the registry's certificate"
	case errors.As(err, &dns):
		e.Hint = "check the registry's name " + ref.Registry + " and the node's name servers"
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH):
		e.Hint = "check that the node can reach " + ref.Registry + ": its address, port, routes and firewalls"
	case errors.Is(err, errStalled):
		e.Hint = "check the node's connection to " + ref.Registry + ", and try again"
	}
	return e
}
