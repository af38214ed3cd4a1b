// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// A uiBrowser sends the requests of a page of the web UI.
type uiBrowser struct {
	t     *testing.T
	root  string // of the addresses
	token string // of the session
}

// do sends a request as a page would, with more headers given as names and values.
func (b *uiBrowser) do(method, path, body string, header ...string) (int, http.Header, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.root+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Origin", b.root)
	if b.token != "" {
		req.Header.Set("X-Nomad-Token", b.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// logIn trades the code of an address.
func (b *uiBrowser) logIn(address string) {
	b.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.root = u.Scheme + "://" + u.Host
	_, code, _ := strings.Cut(u.Fragment, "code=")
	status, _, body := b.do(http.MethodPost, "/v1/ui/session", fmt.Sprintf(`{"Code": %q}`, code))
	var session api.UISession
	if err := json.Unmarshal([]byte(body), &session); err != nil || status != http.StatusOK || session.Token == nil {
		b.t.Fatalf("trade the code of %s: %d %s", address, status, body)
	}
	b.token = session.Token.SecretID
}

// startUI starts `reeve ui`, and returns the address that it prints, and a function that ends it with Ctrl-C.
func (u *loginUser) startUI(args ...string) (address string, end func()) {
	u.t.Helper()
	ctx, cancel := context.WithCancel(u.t.Context())
	cmd := u.command(ctx, append([]string{"ui", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	var opening struct {
		Address string
		Proxy   bool
	}
	if err := json.NewDecoder(stdout).Decode(&opening); err != nil || !opening.Proxy {
		cancel()
		u.t.Fatalf("reeve ui printed %+v: %v", opening, errors.Join(err, cmd.Wait()))
	}
	return opening.Address, func() {
		defer cancel()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			u.t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			u.t.Errorf("reeve ui after Ctrl-C: %v", err)
		}
	}
}

// uiCluster starts a cluster of one machine, and a user who logged in.
func uiCluster(t *testing.T) (*machine, *loginUser) {
	t.Helper()
	m := unstarted(t)
	m.Args = []string{"-server", "-client", "-bootstrap", "-node", "one"}
	m.start()
	m.waitReady()
	u := &loginUser{t: t, dir: t.TempDir()}
	u.must("", "login", m.Addr, "-token-file", filepath.Join(m.Dir, "operator.token"))
	return m, u
}

func TestWebUIThroughTheProxy(t *testing.T) {
	m, u := uiCluster(t)
	m.register(testbed.ShellJob("web", 1, "sleep 1000"))
	list := m.allocations("web", "runs", running(1))
	address, end := u.startUI("job", "web")
	defer end()
	if !strings.HasPrefix(address, "http://127.0.0.1:") || !strings.Contains(address, "/ui/job/web#code=") {
		t.Errorf("the address is %s", address)
	}
	b := &uiBrowser{t: t}
	b.root, _, _ = strings.Cut(address, "/ui/")
	if status, header, page := b.do(http.MethodGet, "/ui/job/web", ""); status != http.StatusOK || !strings.Contains(page, "<html") || header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("the page: %d %v %s", status, header, page)
	}
	if status, _, body := b.do(http.MethodGet, "/v1/jobs", ""); status != http.StatusForbidden {
		t.Errorf("without a session, the proxy gives rights: %d %s", status, body)
	}
	b.logIn(address)
	if status, _, body := b.do(http.MethodGet, "/v1/jobs", ""); status != http.StatusOK || !strings.Contains(body, `"web"`) {
		t.Errorf("the session: %d %s", status, body)
	}
	for what, header := range map[string][]string{
		"another name": {"Host", "evil.example"}, "another site": {"Origin", "https://evil.example"}, "a form elsewhere": {"Sec-Fetch-Site", "cross-site"},
	} {
		for _, path := range []string{"/v1/jobs", "/ui/"} {
			if status, _, body := b.do(http.MethodGet, path, "", header...); status != http.StatusForbidden {
				t.Errorf("%s: GET %s: %d %s", what, path, status, body)
			}
		}
	}
	b.streams(m)
	b.execs(list[0].ID)
}

// streams checks that an event arrives while the stream continues.
func (b *uiBrowser) streams(m *machine) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.root+"/v1/event/stream?topic=Job", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-Nomad-Token", b.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	m.register(testbed.ShellJob("later", 1, "sleep 1000"))
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.t.Fatalf("the stream ends before the event: %v", err)
		}
		if strings.Contains(line, `"later"`) {
			return
		}
	}
}

// execs runs a command in a task over a websocket, whose first message has the token.
func (b *uiBrowser) execs(alloc string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	query := url.Values{"task": {"task"}, "command": {`["echo", "hello"]`}, "ws_handshake": {"true"}}
	address := strings.Replace(b.root, "http://", "ws://", 1) + "/v1/client/allocation/" + alloc + "/exec?" + query.Encode()
	if _, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}}); err == nil {
		b.t.Error("a page of another site opens a websocket")
	}
	conn, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {b.root}}})
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"version": 1, "auth_token": %q}`, b.token)); err != nil {
		b.t.Fatal(err)
	}
	said := ""
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			b.t.Fatalf("the session ends after %q: %v", said, err)
		}
		var out struct {
			Stdout struct{ Data []byte }
			Exited bool
		}
		if err := json.Unmarshal(frame, &out); err != nil {
			b.t.Fatalf("%s: %v", frame, err)
		}
		said += string(out.Stdout.Data)
		if out.Exited {
			break
		}
	}
	if said != "hello\n" {
		b.t.Errorf("the command printed %q", said)
	}
}

// TestWebUIProxyOfAnAgentThatTrustsTheUser checks that a proxy does not pass the rights of its user on.
func TestWebUIProxyOfAnAgentThatTrustsTheUser(t *testing.T) {
	m := newMachine(t)
	u := &loginUser{t: t, dir: t.TempDir()}
	for _, args := range [][]string{{"-address", "http://" + m.Addr, "-proxy"}, {"-address", "unix://" + socketTo(t, m.Addr)}} {
		checkTrustingAgent(t, u, args)
	}
}

// socketTo returns a unix socket that leads to an address.
func socketTo(t *testing.T, address string) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ui") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				to, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer to.Close()
				go io.Copy(to, from)
				io.Copy(from, to)
			}()
		}
	}()
	return l.Addr().String()
}

func checkTrustingAgent(t *testing.T, u *loginUser, args []string) {
	t.Helper()
	address, end := u.startUI(args...)
	defer end()
	b := &uiBrowser{t: t}
	b.root, _, _ = strings.Cut(address, "/ui/")
	if status, _, body := b.do(http.MethodGet, "/v1/jobs", ""); status != http.StatusForbidden || !strings.Contains(body, "passes on requests of others") {
		t.Errorf("%q without a session: %d %s", args, status, body)
	}
	if status, _, body := b.do(http.MethodGet, "/v1/ui/config", ""); status != http.StatusOK || !strings.Contains(body, `"ACL":true,"Admitted":false`) {
		t.Errorf("%q: the configuration: %d %s", args, status, body)
	}
	b.logIn(address)
	if status, _, body := b.do(http.MethodGet, "/v1/jobs", ""); status != http.StatusOK {
		t.Errorf("%q: the session: %d %s", args, status, body)
	}
}

// TestWebUIOpensABrowser checks that the arguments of the browser do not contain the code.
func TestWebUIOpensABrowser(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	program, arguments := filepath.Join(dir, "browser"), filepath.Join(dir, "arguments")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" > "+arguments+".part && mv "+arguments+".part "+arguments+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, reeve, "ui", "-address", "http://"+m.Addr, "topology")
	cmd.Env = []string{"REEVE_CONFIG_DIR=" + dir, "NO_COLOR=1", "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BROWSER=" + program}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var start string
	m.eventually("the browser is started", func(context.Context) error {
		text, err := os.ReadFile(arguments)
		start = strings.TrimSpace(string(text))
		return err
	})
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := noFollow.Get(start)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	to := resp.Header.Get("Location")
	if strings.Contains(start, "code") || !strings.HasPrefix(to, "http://"+m.Addr+"/ui/topology#code=") {
		t.Errorf("the browser is started with %s, and led to %s", start, to)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "Opened http://"+m.Addr+"/ui/topology in the browser") {
		t.Errorf("reeve ui: %v\n%s", err, said.String())
	}
	(&uiBrowser{t: t}).logIn(to)
}
