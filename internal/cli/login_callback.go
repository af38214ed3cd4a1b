// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// callbackPath is where an identity provider sends the browser back, as commands of Nomad have it.
const callbackPath = "/oidc/callback"

// A callback receives what the identity provider sends back with the browser.
type callback struct {
	uri      string
	listener net.Listener // nil: the user pastes the address
}

// newCallback listens at an address, unless the user pastes the address of the browser.
func newCallback(address string, paste bool) (*callback, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("-oidc-callback-addr %q is not HOST:PORT", address)
	}
	b := &callback{uri: "http://" + address + callbackPath}
	if paste {
		return b, nil
	}
	if b.listener, err = net.Listen("tcp", address); err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "log in: cannot wait for the browser at %s: %v; close the other program, choose another port of %s with -oidc-callback-addr, which the auth method must allow, or use -paste", address, err, host)
	}
	return b, nil
}

func (b *callback) close() {
	if b.listener != nil {
		b.listener.Close()
	}
}

// wait returns the parameters of the answer to a login at an address.
func (b *callback) wait(ctx context.Context, c *cli, address string) (url.Values, error) {
	login, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("log in: the server sent no address: %w", err)
	}
	state := login.Query().Get("state")
	var answer url.Values
	if b.listener == nil {
		answer, err = b.read(c)
	} else {
		answer, err = b.serve(ctx, state)
	}
	switch {
	case err != nil:
		return nil, err
	case !isState(answer, state):
		return nil, api.Errorf(api.CodeInvalid, "log in: the address is of another login: paste the one of this browser window, or begin again")
	case answer.Get("error") != "":
		return nil, api.Errorf(api.CodeForbidden, "log in: the identity provider refuses: %.64q %.200q", answer.Get("error"), answer.Get("error_description"))
	}
	return answer, nil
}

func isState(answer url.Values, state string) bool {
	return state != "" && subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) == 1
}

// longestAddress bounds the address that a user pastes, in bytes.
const longestAddress = 16 << 10

// read reads the address that the user pastes.
func (b *callback) read(c *cli) (url.Values, error) {
	fmt.Fprintf(c.Stderr, "The browser is then sent to an address that begins with %s, which it may not be able to show. Paste it here:\n", b.uri)
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, longestAddress)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("log in: read the address: %w", err)
	}
	pasted, err := url.Parse(strings.TrimSpace(line))
	if err != nil || pasted.RawQuery == "" {
		return nil, api.Errorf(api.CodeInvalid, "log in: this is not the address of the browser: it begins with %s?", b.uri)
	}
	return pasted.Query(), nil
}

// serve waits for the browser. Requests that do not belong to the login are refused, and change nothing.
func (b *callback) serve(ctx context.Context, state string) (url.Values, error) {
	answers := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		answer := r.URL.Query()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if !isState(answer, state) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, "This address is of another login. Open the address that the command line shows.\n")
			return
		}
		io.WriteString(w, "You can close this window. The command line shows whether the login succeeded.\n")
		select {
		case answers <- answer:
		default:
		}
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(b.listener) }()
	defer func() {
		within, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(within) // the browser receives its page
		s.Close()
		<-ended
	}()
	select {
	case answer := <-answers:
		return answer, nil
	case <-ctx.Done():
		return nil, api.Errorf(api.CodeUnavailable, "log in: the browser did not come back within %s; begin again, or use -paste if the browser is on another machine", browserTimeout)
	}
}
