// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"
	xterm "golang.org/x/term"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

func loginCommand(c *cli) *command {
	var name string
	var method methodLogin
	return &command{
		use:   "login HOST",
		short: "Log in to a cluster, and make it the current context",
		long: `Log in to the cluster of the server at HOST or HOST:PORT, with a token from
REEVE_TOKEN, -token-file, standard input, or the terminal: one that "reeve acl
token create" printed, or the operator's. The token carries a digest of the
cluster's authority, so that another machine cannot answer in place of the
server. The first server has the operator's token in operator.token in its data
directory.

With -method or -type, an identity provider knows you. The type oidc prints an
address for your browser, and waits until the provider sends the browser back to
-oidc-callback-addr. If the browser is on another machine, use -paste. The type
jwt presents a signed token of the provider. At the first login to a cluster,
-digest proves the server.`,
		example: "reeve login 10.0.0.1\nssh root@10.0.0.1 cat /var/lib/reeve/operator.token | reeve login 10.0.0.1 -name prod\nreeve login -method sso -digest DIGEST 10.0.0.1\nreeve login -method ci -login-token-file ci.jwt 10.0.0.1",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "`NAME` of the context (default: HOST)")
			method.addTo(f)
		},
		ownArgs: true,
		offline: true,
		run: func(r *call) error {
			if r.arg(0) == "" {
				return usagef("missing argument HOST: the address of a server")
			}
			file, err := c.contexts()
			if err != nil {
				return err
			}
			var text string
			if method.isSet() {
				text, err = c.loginByMethod(r.ctx, file, r.arg(0), &method)
			} else {
				text, err = c.readLoginToken()
			}
			if err != nil {
				return err
			}
			login, err := c.login(r.ctx, r.arg(0), text)
			if err != nil {
				return err
			}
			login.Name, login.Issued = cmp.Or(name, hostOf(r.arg(0))), method.isSet()
			file.Put(*login)
			if err := file.Save(); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Logged in to %s. Commands use this cluster now (context %s).\n", strings.Join(login.Servers, ", "), login.Name)
			return nil
		},
	}
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// readLoginToken reads a token from a file, the environment, standard input or the terminal.
func (c *cli) readLoginToken() (string, error) {
	token, err := c.token()
	if err != nil || token != "" {
		return token, err
	}
	if !term.IsTerminal(c.Stdin) {
		text, err := io.ReadAll(io.LimitReader(c.Stdin, 4<<10))
		return strings.TrimSpace(string(text)), err
	}
	fmt.Fprint(c.Stderr, "Token: ")
	text, err := xterm.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(c.Stderr)
	return strings.TrimSpace(string(text)), err
}

// unverifiedRoots returns the roots that a server shows. Any machine may have answered: pin them.
func (c *cli) unverifiedRoots(ctx context.Context, address string, kind pki.TokenKind) (*pki.Roots, error) {
	unverified, err := client.New(client.Config{Address: "https://" + address, TLS: trust.UnverifiedConfig()})
	if err != nil {
		return nil, err
	}
	defer unverified.Close()
	ca, err := unverified.Cluster().CA(ctx)
	if err != nil {
		return nil, c.loginError(address, kind, err)
	}
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "log in: the server at %s sent no valid root certificates: %v", address, err)
	}
	return roots, nil
}

// login verifies the server by the token, and the token by the server.
func (c *cli) login(ctx context.Context, host, text string) (*contexts.Context, error) {
	token, err := pki.ParseToken(text)
	if err != nil && strings.HasPrefix(text, singleToken) && !strings.HasPrefix(text, singleToken+"1-") {
		return nil, api.Errorf(api.CodeInvalid, "log in: the token is of a single machine, which is not part of a cluster: set REEVE_TOKEN to it, or use -token-file, and name the machine with -address")
	}
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "log in: %v; an administrator of the cluster creates tokens with \"reeve acl token create\", and the first server has the operator's token in operator.token in its data directory", err)
	}
	if token.Kind != pki.OperatorToken && token.Kind != pki.UserToken {
		return nil, api.Errorf(api.CodeInvalid, "log in: this is a join token, which admits machines: use a token of \"reeve acl token create\", or the operator's, as in operator.token in the data directory of the first server")
	}
	address := withPort(host)
	roots, err := c.unverifiedRoots(ctx, address, token.Kind)
	if err != nil {
		return nil, err
	}
	pinned, ok := roots.Pin(token.Digest)
	if !ok {
		return nil, api.Errorf(api.CodeForbidden, "log in: the server at %s belongs to another cluster than the token, or another machine answers in its place, or the cluster replaced its root: check the address and the token, or get a new one%s", address, renewal(token.Kind))
	}
	cl, err := client.New(client.Config{Address: "https://" + address, Token: token.String(), TLS: trust.UserConfig(pinned)})
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	servers, err := cl.Status().Peers(ctx)
	if err != nil {
		return nil, c.loginError(address, token.Kind, err)
	}
	// The first answer may contain other roots than the token's, which an attacker added.
	ca, err := cl.Cluster().CA(ctx)
	if err != nil {
		return nil, c.loginError(address, token.Kind, err)
	}
	login := &contexts.Context{Servers: []string{address}, Roots: ca.Roots, Token: token.String()}
	for _, server := range servers {
		if server != address {
			login.Servers = append(login.Servers, server)
		}
	}
	return login, nil
}

// renewal tells how to get a new token.
func renewal(kind pki.TokenKind) string {
	if kind == pki.UserToken {
		return " from an administrator of the cluster: reeve acl token create"
	}
	return " with: reeve cluster token rotate operator"
}

// loginError explains why a server did not accept a login.
func (c *cli) loginError(address string, kind pki.TokenKind, err error) error {
	var no *client.NoAnswer
	switch {
	case errors.As(err, &no) && c.trustHint(no) != "":
		return api.Errorf(api.CodeUnavailable, "log in: %s", c.trustHint(no))
	case errors.As(err, &no):
		return api.Errorf(api.CodeUnavailable, "log in: no server answers at %s (%s): name a running server of the cluster as HOST or HOST:PORT", address, no.Cause)
	case api.CodeOf(err) == api.CodeForbidden && kind == pki.UserToken:
		return api.Errorf(api.CodeForbidden, "log in: the server at %s does not accept the token: it was deleted, or has expired; get a new one%s", address, renewal(kind))
	case api.CodeOf(err) == api.CodeForbidden:
		return api.Errorf(api.CodeForbidden, "log in: the server at %s does not accept the token: it was replaced; use the newest, or replace it on a server with: reeve cluster token rotate operator", address)
	}
	return err
}

// singleToken begins the tokens of a machine that is no cluster. They contain no digest, but those of
// clusters continue with their version.
const singleToken = "reeve-user-"

const defaultPort = "4646"
