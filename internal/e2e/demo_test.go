// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/demo"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/output"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// shopTime bounds the time until the demo is complete. It takes about 15 s on two idle cores.
const shopTime = 3 * time.Minute

// A demoRun is "reeve demo" as a process, with a directory for its temporary files.
type demoRun struct {
	t      *testing.T
	cmd    *exec.Cmd
	tmp    string
	addr   string
	said   *output.Text
	exited chan struct{}
}

// startDemo starts a demo whose temporary files are in tmp.
func startDemo(t *testing.T, tmp string, args ...string) *demoRun {
	t.Helper()
	addr, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	d := &demoRun{t: t, tmp: tmp, addr: addr, said: &output.Text{}, exited: make(chan struct{})}
	d.cmd = exec.Command(reeve, append([]string{"demo", "-port", port}, args...)...)
	d.cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "NO_COLOR=1")
	d.cmd.Stdout, d.cmd.Stderr = d.said, d.said
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		d.cmd.Wait()
		close(d.exited)
	}()
	t.Cleanup(func() {
		d.cmd.Process.Kill()
		<-d.exited
		for _, pid := range (&testbed.Machine{Dir: tmp}).Processes() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return d
}

// says waits until the demo has said a text.
func (d *demoRun) says(text string) {
	d.t.Helper()
	limit := wait.Limit(d.t, shopTime)
	found := wait.Poll(d.t.Context(), 50*time.Millisecond, func() bool {
		select {
		case <-limit:
			return true
		case <-d.exited:
			return true
		default:
			return strings.Contains(d.said.String(), text)
		}
	})
	if !found || !strings.Contains(d.said.String(), text) {
		d.t.Fatalf("the demo did not say %q, but:\n%s", text, d.said.String())
	}
}

// ends waits for the end of the demo with an exit code.
func (d *demoRun) ends(code int) {
	d.t.Helper()
	select {
	case <-d.exited:
	case <-wait.Limit(d.t, time.Minute):
		d.t.Fatalf("the demo did not end; it said:\n%s", d.said.String())
	}
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.t.Errorf("the demo ended with code %d, want %d; it said:\n%s", got, code, d.said.String())
	}
}

// leavesNothing checks that neither processes nor directories of demos remain.
func (d *demoRun) leavesNothing() {
	d.t.Helper()
	// A supervisor ends a moment after the demo that has told it to.
	wait.Until(d.t, "no process remains", func() bool { return len((&testbed.Machine{Dir: d.tmp}).Processes()) == 0 })
	if left, _ := filepath.Glob(d.tmp + "/*"); len(left) > 0 {
		d.t.Errorf("files remain: %v", left)
	}
}

func demoTemp(t *testing.T) string {
	t.Helper()
	tmp, err := os.MkdirTemp("", "rv-demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	return tmp
}

// TestDemo checks the whole picture of "reeve demo", and that Ctrl-C leaves nothing behind.
func TestDemo(t *testing.T) {
	d := startDemo(t, demoTemp(t), "-simulated-nodes", "3")
	d.says("Press Ctrl-C to stop the shop.")
	if said := d.said.String(); !strings.Contains(said, "The shop is complete") {
		t.Errorf("parts are missing:\n%s", said)
	}
	ctx := t.Context()
	cl, err := client.New(client.Config{Address: "http://" + d.addr})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()

	sights, err := demo.Sights(ctx, cl, "jobs")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, s := range sights {
		jobs = append(jobs, s.Job)
		if !strings.Contains(d.said.String(), s.State[:10]) {
			t.Errorf("the demo does not mention %+v:\n%s", s, d.said.String())
		}
	}
	if want := []string{"checkout", "cart", "newsletter", "forecast", "inventory"}; !slices.Equal(jobs, want) {
		t.Errorf("what waits for an operator: %v, want %v", jobs, want)
	}
	shown := map[string]int{}
	stacks, _, err := cl.Stacks().List(ctx, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stacks {
		shown[s.Shown]++
	}
	if shown[api.StackReady] != 3 || shown[api.StackDeprecated] != 1 {
		t.Errorf("stacks by state: %v, want 3 ready and 1 deprecated", shown)
	}
	nodes, _, err := cl.Nodes().List(ctx, nil)
	if err != nil || len(nodes) != 4 {
		t.Errorf("%d nodes, want the real one and 3 simulated ones (%v)", len(nodes), err)
	}
	usage, _, err := cl.Quotas().Usage(ctx, "staging", nil)
	if err != nil || usage == nil {
		t.Errorf("usage of the quota staging: %+v, %v", usage, err)
	}
	d.resolves(cl)
	d.cmd.Process.Signal(os.Interrupt)
	d.ends(0)
	d.leavesNothing()
}

// resolves runs the command that resolves each stuck job, and waits until nothing is stuck.
func (d *demoRun) resolves(cl *client.Client) {
	d.t.Helper()
	ctx := d.t.Context()
	dirs, _ := filepath.Glob(d.tmp + "/reeve-demo-*/jobs")
	if len(dirs) != 1 {
		d.t.Fatalf("directories of job files: %v, want one", dirs)
	}
	sights, err := demo.Sights(ctx, cl, dirs[0])
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range sights {
		cmd := exec.CommandContext(ctx, reeve, strings.Fields(s.Command)...)
		cmd.Env = append(os.Environ(), "REEVE_ADDR=http://"+d.addr)
		if out, err := cmd.CombinedOutput(); err != nil {
			d.t.Errorf("reeve %s: %v\n%s", s.Command, err, out)
		}
	}
	wait.Until(d.t, "nothing is stuck", func() bool {
		sights, err := demo.Sights(ctx, cl, dirs[0])
		return err == nil && len(sights) == 0
	})
}

// TestDemoRemovesAKilledOne checks that a demo ends the tasks of an earlier one that was killed, and
// leaves a running one, and directories that are not its own, unchanged.
func TestDemoRemovesAKilledOne(t *testing.T) {
	tmp := demoTemp(t)
	first := startDemo(t, tmp, "-simulated-nodes", "0")
	first.says("Registered the jobs of the shop.")
	_, port, _ := net.SplitHostPort(first.addr)
	second := exec.Command(reeve, "demo", "-port", port)
	second.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := second.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(out), fmt.Sprintf("port %s is in use", port)) {
		t.Errorf("a demo on a port in use: %v:\n%s", err, out)
	}
	elsewhere := t.TempDir()
	link := filepath.Join(tmp, "reeve-demo-link")
	if err := os.Mkdir(filepath.Join(elsewhere, "supervisor"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	third := startDemo(t, tmp, "-simulated-nodes", "0")
	third.says("Reeve runs at")
	if strings.Contains(third.said.String(), "earlier demo") {
		t.Errorf("a demo removed one that runs:\n%s", third.said.String())
	}
	first.cmd.Process.Kill()
	<-first.exited
	third.cmd.Process.Signal(syscall.SIGHUP)
	third.ends(0)

	last := startDemo(t, tmp, "-simulated-nodes", "0")
	last.says("Stopped the tasks of an earlier demo that was killed")
	last.says("Reeve runs at")
	last.cmd.Process.Signal(syscall.SIGTERM)
	last.ends(0)
	if _, err := os.Stat(filepath.Join(elsewhere, "supervisor")); err != nil {
		t.Error("a demo followed a link out of the temporary directory:", err)
	}
	os.Remove(link)
	last.leavesNothing()
}
