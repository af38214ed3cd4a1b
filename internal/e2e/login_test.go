// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

// A loginUser runs commands with contexts of its own, and has a browser.
type loginUser struct {
	t       *testing.T
	dir     string // of the contexts
	browser *http.Client
}

func newLoginUser(t *testing.T, p *idp.Provider) *loginUser {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(p.CA))
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(browser.CloseIdleConnections)
	return &loginUser{t, t.TempDir(), browser}
}

// command prepares a command of the user, which ends with the test.
func (u *loginUser) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, reeve, args...)
	cmd.Env = []string{"REEVE_CONFIG_DIR=" + u.dir, "NO_COLOR=1", "HOME=" + u.dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// run runs a command, and returns what it printed.
func (u *loginUser) run(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	cmd := u.command(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs a command that succeeds.
func (u *loginUser) must(stdin string, args ...string) string {
	u.t.Helper()
	out, err := u.run(stdin, args...)
	if err != nil {
		u.t.Fatalf("reeve %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// loginInBrowser runs a login, opens its address, and has the browser follow or the user paste the answer.
func (u *loginUser) loginInBrowser(paste bool, args ...string) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	cmd := u.command(ctx, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	var stdout strings.Builder
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	told, address := "", ""
	lines := bufio.NewReader(stderr)
	for address == "" {
		line, err := lines.ReadString('\n')
		told += line
		if err != nil {
			u.t.Fatalf("the command shows no address: %s (%v)", told, cmd.Wait())
		}
		if strings.HasPrefix(line, "https://") {
			address = strings.TrimSpace(line)
		}
	}
	if paste {
		browser := *u.browser
		browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := browser.Get(address)
		if err != nil {
			u.t.Fatal(err)
		}
		resp.Body.Close()
		fmt.Fprintln(stdin, resp.Header.Get("Location"))
	} else {
		resp, err := u.browser.Get(address)
		if err != nil {
			u.t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "close this window") {
			u.t.Errorf("the browser shows %s: %s (%v)", resp.Status, page, err)
		}
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil {
		u.t.Fatalf("reeve %s: %v\n%s%s%s", strings.Join(args, " "), err, told, rest, stdout.String())
	}
	return stdout.String()
}

// loginCluster starts three servers on this machine, and returns the leader and a follower.
func loginCluster(t *testing.T) (leader, follower *machine) {
	t.Helper()
	var all []*machine
	for i := range 3 {
		m := unstarted(t)
		m.Args = []string{"-server", "-node", fmt.Sprint("server-", i+1)}
		all = append(all, m)
	}
	founder := all[0]
	founder.Args = append(founder.Args, "-bootstrap")
	founder.start()
	var token string
	founder.eventually("the cluster is founded", func(ctx context.Context) error {
		tokens, err := founder.Client.Cluster().JoinTokens(ctx)
		if err == nil {
			token = tokens.Server
		}
		return err
	})
	file := filepath.Join(t.TempDir(), "server.token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range all[1:] {
		m.Args = append(m.Args, "-join", founder.Addr, "-join-token-file", file)
		m.start()
	}
	founder.eventually("three servers vote", func(ctx context.Context) error {
		list, err := founder.Client.Servers().List(ctx)
		for _, s := range list {
			if !s.Voter {
				err = errors.Join(err, fmt.Errorf("%s does not vote", s.Name))
			}
		}
		if err == nil && len(list) != len(all) {
			err = fmt.Errorf("%d servers", len(list))
		}
		return err
	})
	for _, m := range all[1:] {
		m.eventually("it knows the leader", func(ctx context.Context) error {
			address, err := m.Client.Status().Leader(ctx)
			if err == nil && address != founder.Addr {
				err = fmt.Errorf("the leader is %s", address)
			}
			return err
		})
	}
	return founder, all[1]
}

// TestALoginByAnIdentityProvider logs in with a browser, by a pasted address, and with a signed token, at a server
// that does not lead.
func TestALoginByAnIdentityProvider(t *testing.T) {
	leader, follower := loginCluster(t)
	p := idp.New(t)
	callback, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	admin, user := newLoginUser(t, p), newLoginUser(t, p)
	at := "-address=http://" + leader.Addr
	write := func(name string, config map[string]any) string {
		t.Helper()
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(admin.dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sso := write("sso.json", map[string]any{
		"OIDCDiscoveryURL": p.URL, "DiscoveryCaPem": []string{p.CA}, "OIDCClientID": idp.ClientID, "OIDCClientSecret": idp.ClientSecret, "SigningAlgs": []string{"ES256"},
		"AllowedRedirectURIs": []string{"http://" + callback + "/oidc/callback"}, "ClaimMappings": map[string]string{"sub": "user"}, "ListClaimMappings": map[string]string{"groups": "groups"},
	})
	ci := write("ci.json", map[string]any{"JWKSURL": p.URL + "/keys", "JWKSCACert": p.CA, "SigningAlgs": []string{"ES256"}, "BoundAudiences": []string{idp.ClientID}, "ClockSkewLeeway": "30s"})
	rules := filepath.Join(admin.dir, "readers.hcl")
	if err := os.WriteFile(rules, []byte("namespace \"default\" {\n  policy = \"read\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin.must("", "acl", "policy", "apply", at, "readers", rules)
	out := admin.must("", "acl", "auth-method", "create", at, "-name", "sso", "-type", "oidc", "-max-token-ttl", "8h", "-default", "-token-name-format", "${value.user}", "-config", sso)
	if strings.Contains(out, idp.ClientSecret) || !strings.Contains(out, api.Redacted) {
		t.Errorf("the method is shown as:\n%s", out)
	}
	admin.must("", "acl", "auth-method", "create", at, "-name", "ci", "-type", "JWT", "-max-token-ttl", "10m", "-config", "@"+ci)
	admin.must("", "acl", "binding-rule", "create", at, "-auth-method", "sso", "-selector", `"ops" in list.groups`, "-bind-type", "policy", "-bind-name", "readers")
	admin.must("", "acl", "binding-rule", "create", at, "-auth-method", "ci", "-bind-type", "policy", "-bind-name", "readers")

	ca, err := leader.Client.Cluster().CA(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil {
		t.Fatal(err)
	}
	digest := roots.Digests()[0]
	if out, err := user.run("", "login", "-method", "sso", follower.Addr); err == nil || !strings.Contains(out, "-digest is missing") {
		t.Errorf("a server that nothing verifies: %v\n%s", err, out)
	}
	wrong := strings.Repeat("a", len(digest))
	if out, err := user.run("", "login", "-method", "sso", "-digest", wrong, follower.Addr); err == nil || !strings.Contains(out, "another digest") {
		t.Errorf("another digest: %v\n%s", err, out)
	}

	p.SetUser(map[string]any{"sub": "ana", "groups": []string{"ops"}})
	out = user.loginInBrowser(false, "login", "-method", "sso", "-digest", digest, "-oidc-callback-addr", callback, follower.Addr)
	if !strings.Contains(out, "Logged in to "+follower.Addr) {
		t.Errorf("the login prints: %s", out)
	}
	if out := user.must("", "acl", "token", "self"); !strings.Contains(out, "Name         = ana") || !strings.Contains(out, "Policies     = readers") {
		t.Errorf("the token is:\n%s", out)
	}
	user.must("", "job", "status")
	if out, err := user.run("", "node", "status"); err == nil || !strings.Contains(out, "node:read") {
		t.Errorf("beyond the policy: %v\n%s", err, out)
	}

	// With a context, the digest is known.
	p.SetUser(map[string]any{"sub": "bob", "groups": []string{"ops"}})
	user.loginInBrowser(true, "login", "-type", "oidc", "-paste", "-oidc-callback-addr", callback, follower.Addr)
	if out := user.must("", "acl", "token", "self"); !strings.Contains(out, "= bob") {
		t.Errorf("the token is:\n%s", out)
	}
	user.must(p.Sign(p.Claims(nil))+"\n", "login", "-method", "ci", follower.Addr)
	if out := user.must("", "acl", "token", "self"); !strings.Contains(out, "= JWT-ci") {
		t.Errorf("the token is:\n%s", out)
	}
	for what, token := range map[string]string{"another audience": p.Sign(p.Claims(map[string]any{"aud": "other"})), "no token": ""} {
		if out, err := user.run(token, "login", "-method", "ci", follower.Addr); err == nil || token != "" && strings.Contains(out, token) {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	p.SetUser(map[string]any{"sub": "eve", "groups": []string{"sales"}})
	if out, err := user.run("https://x/?state=guess&code=x\n", "login", "-method", "sso", "-paste", "-oidc-callback-addr", callback, follower.Addr); err == nil || !strings.Contains(out, "another login") {
		t.Errorf("the address of another login: %v\n%s", err, out)
	}
	if log := leader.Output() + follower.Output(); strings.Contains(log, idp.ClientSecret) || strings.Contains(log, "reeve-user-1-") {
		t.Error("a log contains a secret")
	}
}
