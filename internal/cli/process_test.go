// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// process is a reeve that runs as a process of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan string
	ended  chan error
	mu     sync.Mutex
	stderr bytes.Buffer
}

// startReeve starts reeve. What it says on stderr is read line by line.
func startReeve(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 1000), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asReeve+"=1", "NO_COLOR=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stderr)
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

func (p *process) read(r io.Reader) {
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		p.mu.Lock()
		p.stderr.WriteString(scanner.Text() + "\n")
		p.mu.Unlock()
		p.lines <- scanner.Text()
	}
	close(p.lines)
	p.ended <- p.cmd.Wait()
}

// said is all that it has said so far.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// expect waits for a line that matches and returns its submatches.
func (p *process) expect(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := wait.Limit(p.t, patience)
	for {
		select {
		case line, ok := <-p.lines:
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			}
			if !ok {
				p.t.Fatalf("it ended and did not say %q, but:\n%s", pattern, p.said())
			}
		case <-deadline:
			p.t.Fatalf("it did not say %q within %s, but:\n%s", pattern, patience, p.said())
		}
	}
}

// end waits for the process to end and returns its exit code.
func (p *process) end() int {
	p.t.Helper()
	deadline := wait.Limit(p.t, patience)
	for lines := p.lines; ; {
		select {
		case _, ok := <-lines:
			if !ok {
				lines = nil
			}
		case err := <-p.ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exit.ExitCode()
			}
			return 0
		case <-deadline:
			p.t.Fatalf("it did not end within %s; it said:\n%s", patience, p.said())
		}
	}
}

func TestDevRunsAFileAndStopsEverything(t *testing.T) {
	t.Setenv("TMPDIR", shortTempDir(t))
	p := startReeve(t, "dev", "-http-addr", "127.0.0.1:0", "../../examples/web.hcl", "../../examples/batch.hcl")
	p.expect(`Reeve runs at http://127\.0\.0\.1:\d+`)
	p.expect(`The web UI is at http://127\.0\.0\.1:\d+/ui/\.`)
	url := p.expect(`All tasks run\. .* curl (http://127\.0\.0\.1:\d+)`)[1]
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.HasPrefix(string(body), "Hello from web, instance ") || !strings.Contains(string(body), "Prepared at") {
		t.Errorf("GET %s answered %q", url, body)
	}
	p.cmd.Process.Signal(os.Interrupt)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d after Ctrl-C; it said:\n%s", code, p.said())
	}
	if _, err := http.Get(url); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the web server still answers after Ctrl-C (%v)", err)
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/reeve-dev-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDevRefusesABrokenFileBeforeItStarts(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.hcl")
	if err := os.WriteFile(broken, []byte("job \"b\" {\n  grup \"g\" {}\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := startReeve(t, "dev", "-http-addr", "127.0.0.1:0", broken)
	p.expect(`broken\.hcl:2:3: .*grup`)
	if code := p.end(); code != 1 || strings.Contains(p.said(), "Reeve runs") {
		t.Errorf("exit code %d, want 1 before anything runs; it said:\n%s", code, p.said())
	}
}

func TestAgentTakesItsDirectoryAndAddress(t *testing.T) {
	dir := shortTempDir(t)
	p := startReeve(t, "agent", "-dev", "-data-dir", dir, "-http-addr", "127.0.0.1:0")
	address := p.expect(`agent started.*address=http://(\S+)`)[1]

	second := startReeve(t, "agent", "-dev", "-data-dir", dir, "-http-addr", "127.0.0.1:0")
	second.expect(`data directory .* is used by another agent`)
	if code := second.end(); code != 1 {
		t.Errorf("a second agent on the directory ended with %d, want 1", code)
	}
	third := startReeve(t, "agent", "-dev", "-data-dir", shortTempDir(t), "-http-addr", address)
	third.expect(`address ` + address + ` is already in use`)
	if code := third.end(); code != 1 {
		t.Errorf("an agent on a port in use ended with %d, want 1", code)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d after SIGTERM; it said:\n%s", code, p.said())
	}
	// The supervisor outlives the agent, as it should: end it through another one.
	again := startReeve(t, "dev", "-data-dir", dir, "-http-addr", "127.0.0.1:0")
	again.expect("Reeve runs")
	again.cmd.Process.Signal(os.Interrupt)
	if code := again.end(); code != 0 {
		t.Errorf("exit code %d of the next agent; it said:\n%s", code, again.said())
	}
}

func TestAgentSaysWhatIsWrongWithItsConfiguration(t *testing.T) {
	p := startReeve(t, "agent", "-http-addr", "0.0.0.0:4646")
	p.expect(`neither a server nor a client`)
	p.expect(`no certificates`)
	if code := p.end(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestCtrlCLeavesARestartAlone(t *testing.T) {
	address, stop, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	t.Setenv("REEVE_ADDR", address)
	if p := startReeve(t, "job", "run", "../../examples/update.hcl"); p.end() != 0 {
		t.Fatalf("job run failed; it said:\n%s", p.said())
	}
	p := startReeve(t, "job", "restart", "-batch-wait", "1h", "update")
	id := p.expect(`^Restart ([0-9a-f]{8}) of job`)[1]
	p.expect(`restart \(.*\) \(`) // the tree: it is being followed
	p.cmd.Process.Signal(os.Interrupt)
	p.expect("The restart continues without this command")
	p.expect("reeve job restart -attach " + id)
	if code := p.end(); code != exitInterrupted {
		t.Errorf("exit code %d after Ctrl-C, want %d", code, exitInterrupted)
	}
	again := startReeve(t, "job", "restart", "-attach", id)
	again.expect(`restart \(.*\) \(`)
	if code := startReeve(t, "job", "restart", "-cancel", id).end(); code != 0 {
		t.Errorf("-cancel ended with %d", code)
	}
	again.expect("is cancelled")
	if code := again.end(); code != exitError {
		t.Errorf("exit code %d of following a restart that is cancelled, want %d", code, exitError)
	}
}

// shortTempDir is a directory whose name leaves room for sockets below it.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
