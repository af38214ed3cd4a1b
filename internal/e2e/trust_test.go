// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// attack is a script that registers a raw_exec job over loopback, as it can
// without any program but a shell, and prints what the agent answers.
func (m *machine) attack() string {
	host, port, _ := strings.Cut(m.Addr, ":")
	job := `{"Job":{"ID":"owned","Name":"owned","Type":"batch","Datacenters":["*"],"TaskGroups":[{"Name":"g","Tasks":[{"Name":"t","Driver":"raw_exec","Config":{"command":"true"}}]}]}}`
	return fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf 'PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%%s' '%s' >&3; cat <&3`,
		host, port, len(job), job)
}

// prints registers a job that prints, and returns what it printed.
func (m *machine) prints(job *api.Job) string {
	m.t.Helper()
	job.Type = api.JobTypeBatch
	m.register(job)
	list := m.allocations(job.ID, "has ended", func(list []*api.AllocationListStub) bool {
		return len(list) == 1 && (list[0].ClientStatus == api.AllocClientComplete || list[0].ClientStatus == api.AllocClientFailed)
	})
	file, err := m.Client.FS().Cat(m.t.Context(), list[0].ID, "alloc/logs/task.stdout.0")
	if api.CodeOf(err) == api.CodeNotFound {
		return "" // a file is made for what is printed
	}
	if err != nil {
		m.t.Fatalf("%s: %v: %s", job.ID, err, events(list[0].TaskStates["task"]))
	}
	defer file.Close()
	out, err := io.ReadAll(file)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(out)
}

func (m *machine) wantNoJob(id string) {
	m.t.Helper()
	if _, _, err := m.Client.Jobs().Get(m.t.Context(), id, nil); api.CodeOf(err) != api.CodeNotFound {
		m.t.Errorf("job %q: %v; want that there is none", id, err)
	}
}

func TestIsolatedTasksMayNotUseTheAPI(t *testing.T) {
	m := newMachine(t)
	for i, user := range []string{"", "nobody", "root", "daemon"} {
		job := testbed.Job(fmt.Sprint("attacker-", i), "exec", 1, map[string]any{"command": "/bin/bash", "args": []string{"-c", m.attack()}})
		job.Groups[0].Tasks[0].User = user
		if said := m.prints(job); !strings.HasPrefix(said, "HTTP/1.1 403 ") || !strings.Contains(said, "agent.token") {
			t.Errorf("an isolated task of user %q got %q; want 403 that says how to pass the token", user, said)
		}
		m.wantNoJob("owned")
	}
	// Closing the connection makes the kernel forget whose it was.
	job := testbed.Job("hasty", "exec", 1, map[string]any{"command": "/bin/bash", "args": []string{"-c", "for i in {1..50}; do (" + strings.TrimSuffix(m.attack(), "cat <&3") + "); done"}})
	m.prints(job)
	m.wantNoJob("owned")

	raw := testbed.Job("operator", "raw_exec", 1, map[string]any{"command": "/bin/bash", "args": []string{"-c", m.attack()}})
	if said := m.prints(raw); !strings.HasPrefix(said, "HTTP/1.1 200 ") {
		t.Errorf("a raw_exec task, which runs as the agent's user, got %q; want 200", said)
	}
}

// as runs the command line as another user of the machine.
func (m *machine) as(uid uint32, env []string, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "reeve-as-") // the binary, where everybody can execute it
	if err != nil {
		m.t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "reeve")
	if err := os.Link(reeve, binary); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.CommandContext(m.t.Context(), binary, args...)
	cmd.Env = append([]string{"REEVE_ADDR=http://" + m.Addr, "PATH=/usr/bin:/bin"}, env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestOtherUsersNeedTheToken(t *testing.T) {
	m := newMachine(t)
	file := filepath.Join(m.Dir, "agent.token")
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.as(65534, nil, "job", "status"); err == nil || !strings.Contains(out, "(65534)") || !strings.Contains(out, file) {
		t.Errorf("nobody without the token: %v, %s; want a refusal that names the user and the file", err, out)
	}
	for _, name := range []string{"REEVE_TOKEN", "NOMAD_TOKEN"} {
		if out, err := m.as(65534, []string{name + "=" + strings.TrimSpace(string(token))}, "job", "status"); err != nil {
			t.Errorf("nobody with %s: %v, %s", name, err, out)
		}
	}
	if out, err := m.as(0, nil, "-token-file", file, "job", "status"); err != nil {
		t.Errorf("root with -token-file: %v, %s", err, out)
	}
	if out, err := m.as(65534, nil, "-token-file", file, "job", "status"); err == nil || !strings.Contains(out, "-token-file") || !strings.Contains(out, "permission denied") {
		t.Errorf("nobody with a file it may not read: %v, %s", err, out)
	}
	if out, err := m.as(65534, []string{"REEVE_TOKEN=guessed"}, "job", "status"); err == nil {
		t.Errorf("nobody with a wrong token came in: %s", out)
	}
}

// A page's site can give its own name the address of loopback: to the browser
// agent and page are then one site.
func TestAPageThatRebindsItsNameRunsNothing(t *testing.T) {
	m := newMachine(t)
	job := `{"Job":{"ID":"owned","Name":"owned","Type":"batch","Datacenters":["*"],"TaskGroups":[{"Name":"g","Tasks":[{"Name":"t","Driver":"raw_exec","Config":{"command":"true"}}]}]}}`
	for _, route := range []string{"PUT /v1/jobs", "GET /v1/client/allocation/x/exec", "GET /v1/event/stream", "GET /v1/agent/health"} {
		method, path, _ := strings.Cut(route, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+m.Addr+path, strings.NewReader(job))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "evil.example:4646"
		req.Header.Set("Origin", "http://evil.example:4646")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(string(said), "evil.example") {
			t.Errorf("%s: %d %s, want 403", route, resp.StatusCode, said)
		}
	}
	m.wantNoJob("owned")
}
