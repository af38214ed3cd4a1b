// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// methodLogin are the settings of a login by an identity provider.
type methodLogin struct {
	method    string
	kind      string // JWT or OIDC; "": that of the method
	digest    string // of the cluster's authority
	tokenFile string
	callback  string
	paste     bool
}

func (m *methodLogin) addTo(f *pflag.FlagSet) {
	f.StringVar(&m.method, "method", "", "log in with the auth method `NAME`; see reeve acl auth-method list")
	f.StringVar(&m.kind, "type", "", "log in with the default auth method of this `TYPE`: oidc or jwt")
	f.StringVar(&m.digest, "digest", "", "the `DIGEST` of the cluster's authority, as in: reeve cluster ca show (default: that of the context of HOST)")
	f.StringVar(&m.tokenFile, "login-token-file", "-", "the provider's token is in the file `PATH` (\"-\": standard input)")
	f.StringVar(&m.callback, "oidc-callback-addr", "localhost:4649", "wait for the browser at `HOST:PORT`")
	f.BoolVar(&m.paste, "paste", false, "read the address to which the browser was sent from standard input")
}

// isSet reports whether an identity provider knows the user.
func (m *methodLogin) isSet() bool { return m.method != "" || m.kind != "" }

// loginByMethod returns the secret of a token for the user that an identity provider knows. The server is verified
// before anything is sent to it: another one could use the user's login itself.
func (c *cli) loginByMethod(ctx context.Context, file *contexts.File, host string, m *methodLogin) (string, error) {
	address := withPort(host)
	roots, err := c.pinnedRoots(ctx, file, address, m.digest)
	if err != nil {
		return "", err
	}
	cl, err := client.New(client.Config{Address: "https://" + address, TLS: trust.UserConfig(roots)})
	if err != nil {
		return "", err
	}
	defer cl.Close()
	method, err := m.find(ctx, cl)
	if err != nil {
		return "", err
	}
	var token *api.ACLToken
	if method.Type == api.ACLAuthMethodJWT {
		token, err = c.loginWithToken(ctx, cl, method.Name, m.tokenFile)
	} else {
		token, err = c.loginWithBrowser(ctx, cl, method.Name, m)
	}
	if err != nil {
		return "", err
	}
	return token.SecretID, nil
}

// withPort returns the address of a server, with the default port if the host has none.
func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
}

// pinnedRoots returns the roots that verify a server: those with a digest, or those of a context.
func (c *cli) pinnedRoots(ctx context.Context, file *contexts.File, address, digest string) (*pki.Roots, error) {
	if digest == "" {
		for _, known := range file.Contexts {
			if slices.Contains(known.Servers, address) {
				return pki.ParseRoots([]byte(known.Roots))
			}
		}
		return nil, usagef("-digest is missing: you did not log in to %s before, so nothing proves that it is the right server; an administrator reads the digest with: reeve cluster ca show", address)
	}
	roots, err := c.unverifiedRoots(ctx, address, pki.UserToken)
	if err != nil {
		return nil, err
	}
	pinned, ok := roots.Pin(digest)
	if !ok {
		return nil, api.Errorf(api.CodeForbidden, "log in: the authority of the server at %s has another digest, or another machine answers in its place: compare -digest with: reeve cluster ca show", address)
	}
	return pinned, nil
}

// find returns the auth method of the login.
func (m *methodLogin) find(ctx context.Context, cl *client.Client) (*api.ACLAuthMethodStub, error) {
	list, _, err := cl.ACL().AuthMethods(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, stub := range list {
		names = append(names, stub.Name)
		if m.kind != "" && !strings.EqualFold(m.kind, stub.Type) {
			continue
		}
		if stub.Name == m.method || m.method == "" && stub.Default {
			return stub, nil
		}
	}
	return nil, api.Errorf(api.CodeNotFound, "log in: no auth method fits -method %q and -type %q; the cluster has: %s", m.method, m.kind, cmp.Or(strings.Join(names, ", "), "none"))
}

// longestLoginToken bounds the token of an identity provider, in bytes.
const longestLoginToken = 32 << 10

// loginWithToken presents a token that an identity provider signed.
func (c *cli) loginWithToken(ctx context.Context, cl *client.Client, method, path string) (*api.ACLToken, error) {
	in := c.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read -login-token-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, longestLoginToken+1))
	token := strings.TrimSpace(string(text))
	if err != nil || token == "" || len(text) > longestLoginToken {
		return nil, usagef("read -login-token-file: %s does not contain one token of the identity provider", cmp.Or(strings.TrimPrefix(path, "-"), "standard input"))
	}
	return cl.ACL().Login(ctx, &api.ACLLoginRequest{AuthMethodName: method, LoginToken: token})
}

// browserTimeout is the time that servers remember a login in a browser.
const browserTimeout = 10 * time.Minute

// loginWithBrowser has the user log in to the identity provider.
func (c *cli) loginWithBrowser(ctx context.Context, cl *client.Client, method string, m *methodLogin) (*api.ACLToken, error) {
	ctx, cancel := context.WithTimeout(ctx, browserTimeout)
	defer cancel()
	back, err := newCallback(m.callback, m.paste)
	if err != nil {
		return nil, err
	}
	defer back.close()
	nonce := rand.Text()
	address, err := cl.ACL().OIDCAuthURL(ctx, &api.OIDCAuthURLRequest{AuthMethodName: method, RedirectURI: back.uri, ClientNonce: nonce})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c.Stderr, "Open this address in a browser, and log in:\n\n%s\n\n", address)
	answer, err := back.wait(ctx, c, address)
	if err != nil {
		return nil, err
	}
	return cl.ACL().CompleteOIDC(ctx, &api.OIDCCompleteAuthRequest{
		AuthMethodName: method, ClientNonce: nonce, RedirectURI: back.uri,
		State: answer.Get("state"), Code: answer.Get("code"), Iss: answer.Get("iss"),
	})
}
