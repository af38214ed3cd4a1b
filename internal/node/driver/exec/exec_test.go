// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

// open makes the driver, or, on a machine that cannot isolate, checks that it
// says so and reports false.
func open(t testing.TB) (*exec.Driver, bool) {
	t.Helper()
	d := exec.New(supervisetest.Connect(t), exec.Config{})
	s := d.Fingerprint(t.Context())
	if s.Healthy {
		return d, true
	}
	if s.Attributes["driver.exec"] != "" || s.HealthDescription == "" {
		t.Errorf("a driver that is not healthy must say why and publish nothing: %+v", s)
	}
	if _, err := d.Start(context.Background(), supervisetest.Task(t, "x", supervisetest.Shell("true"))); err == nil {
		t.Error("a task was started by a driver that is not healthy")
	}
	return d, false
}

// run runs a script to its end and returns what it printed.
func run(t testing.TB, d *exec.Driver, task *driver.Task) (string, driver.Exit) {
	t.Helper()
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return supervisetest.Output(t, task.Logs.StdoutPrefix) + supervisetest.Output(t, task.Logs.StderrPrefix), exit
}

func TestSeesItsOwnMachine(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell(`
		echo "pid $$"; id -u; pwd
		[ $(ls -d /proc/[0-9]* | wc -l) -lt 5 ] && echo few processes
		grep -E '^(NoNewPrivs|CapEff|CapBnd)' /proc/self/status
		touch /usr/x 2>&1 | grep -o 'Read-only file system'
		touch /etc/passwd 2>&1 | grep -o 'Permission denied'
		ls /root /home /work /var 2>&1 | grep -c 'No such file'
		echo data > /local/file; echo tmp > /tmp/file; echo s > /secrets/file; echo scratch > /scratch
		echo "to a device" > /dev/stdout; echo x > /dev/null
		mount -t tmpfs none /tmp 2>/dev/null || echo no mount
	`))
	got, exit := run(t, d, task)
	want := `pid 1
65534
/
few processes
CapEff:	0000000000000000
CapBnd:	00000000a00405fb
NoNewPrivs:	1
Read-only file system
Permission denied
4
to a device
no mount
`
	if diff := cmp.Diff(want, got); diff != "" || exit.Code != 0 {
		t.Errorf("exit %+v, output (-want +got):\n%s", exit, diff)
	}
}

func TestExecEntersTheTask(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("echo here > /local/file; exec sleep 1000"))
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	script := `until [ -s /local/file ]; do sleep 0.01; done; cat /local/file; id -u; cat /proc/1/cmdline | tr '\0' ' '; echo; grep NoNewPrivs /proc/self/status; exit 9`
	code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &errOut})
	if err != nil || code != 9 {
		t.Fatalf("exec: code %d, %v, %s", code, err, &errOut)
	}
	if want := "here\n65534\nsleep 1000 \nNoNewPrivs:\t1\n"; out.String() != want {
		t.Errorf("output %q, want %q", &out, want)
	}
	begin := time.Now()
	if err := h.Stop(t.Context(), "SIGINT", time.Minute); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Signal != 2 || time.Since(begin) > 20*time.Second {
		t.Errorf("exit %+v, %v after %v; want SIGINT at once", exit, err, time.Since(begin))
	}
}

func TestMemoryOverTheLimitIsSeenAsSuch(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/hungry/0", supervisetest.Shell(`head -c 200M /dev/zero | tail -c 190M | wc -c`))
	task.Resources.MemoryMB = 32
	_, exit := run(t, d, task)
	if strings.Contains(d.Fingerprint(t.Context()).HealthDescription, "no cgroups") {
		if exit.OOMKilled {
			t.Errorf("exit %+v; without cgroups nobody knows that", exit)
		}
		return
	}
	// The shell outlives what was killed.
	h, err := d.Start(t.Context(), with(t, task, "a/hungry/1", supervisetest.Shell(`exec tail /dev/zero`)))
	if err != nil {
		t.Fatal(err)
	}
	exit, err = h.Wait(t.Context())
	if err != nil || !exit.OOMKilled || exit.Signal != 9 {
		t.Errorf("exit %+v, %v; want an OOM kill", exit, err)
	}
	// memory_max is the limit, memory only what is reserved.
	task = with(t, task, "a/hungry/2", supervisetest.Shell(`head -c 40M /dev/zero | tail -c 39M | wc -c`))
	task.Resources.MemoryMaxMB = 256
	if got, exit := run(t, d, task); exit.Code != 0 || exit.OOMKilled {
		t.Errorf("below memory_max: %+v, %q", exit, got)
	}
}

// with is a task like another one, with directories and logs of its own.
func with(t testing.TB, like *driver.Task, id string, config map[string]any) *driver.Task {
	task := supervisetest.Task(t, id, config)
	task.Resources, task.User = like.Resources, like.User
	return task
}

func TestTasksDoNotSeeEachOther(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	one := supervisetest.Task(t, "one", supervisetest.Shell(`echo sesame > /secrets/key; echo ready; exec sleep 1000`))
	h, err := d.Start(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the secret is there", func() bool {
		return supervisetest.Output(t, one.Logs.StdoutPrefix) == "ready\n"
	})
	two := supervisetest.Task(t, "two", supervisetest.Shell(`
		find / -name key -path '*secrets*' 2>/dev/null; ls /secrets
		kill -0 `+strconv.Itoa(h.PID())+` 2>/dev/null && echo sees a process
		ls `+one.Dir.Secrets+` 2>/dev/null
		ipcs -q 2>/dev/null | grep -c 0x`))
	two.User = "root"
	if got, _ := run(t, d, two); strings.TrimSpace(got) != "0" {
		t.Errorf("a task sees of another one: %q", got)
	}
}

func TestUsersAndCapabilities(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	status := `echo $(id -u):$(id -g) $(grep -E '^(CapPrm|CapBnd|CapAmb)' /proc/self/status | tr -d '\t')`
	for name, c := range map[string]struct {
		user   string
		config map[string]any
		want   string
	}{
		"nobody":   {"", nil, "65534:65534 CapPrm:0000000000000000 CapBnd:00000000a00405fb CapAmb:0000000000000000"},
		"number":   {"1234", nil, "1234:1234 CapPrm:0000000000000000 CapBnd:00000000a00405fb CapAmb:0000000000000000"},
		"root":     {"root", nil, "0:0 CapPrm:00000000a00405fb CapBnd:00000000a00405fb CapAmb:0000000000000000"},
		"added":    {"", map[string]any{"cap_add": []any{"net_raw"}}, "65534:65534 CapPrm:0000000000002000 CapBnd:00000000a00425fb CapAmb:0000000000002000"},
		"only one": {"root", map[string]any{"cap_drop": []any{"all"}, "cap_add": []any{"CAP_CHOWN"}}, "0:0 CapPrm:0000000000000001 CapBnd:0000000000000001 CapAmb:0000000000000000"},
	} {
		config := supervisetest.Shell(status)
		for k, v := range c.config {
			config[k] = v
		}
		task := supervisetest.Task(t, name, config)
		task.User = c.user
		if got, exit := run(t, d, task); strings.TrimSpace(got) != c.want || exit.Code != 0 {
			t.Errorf("%s: %+v\n got %s\nwant %s", name, exit, got, c.want)
		}
	}
}

func TestSetUserIDProgramsHaveNoEffect(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "t", supervisetest.Shell(`/local/id -u; id -u`))
	b, err := os.ReadFile("/usr/bin/id")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(task.Dir.Local+"/id", b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(task.Dir.Local+"/id", 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if got, _ := run(t, d, task); got != "65534\n65534\n" {
		t.Errorf("a set-user-id program ran as %q", got)
	}
}

func TestProcessesAreLimited(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	c := supervisetest.ConnectTo(t, dir)
	d := exec.New(c, exec.Config{MaxProcesses: 10})
	if !d.Fingerprint(t.Context()).Healthy || !c.Machine().Has("pids") {
		return // open, in the other tests, checks what it says then
	}
	task := supervisetest.Task(t, "bomb", supervisetest.Shell(`i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done; echo all`))
	got, exit := run(t, d, task)
	if exit.Code == 0 || !strings.Contains(got, "fork") {
		t.Errorf("50 processes under a limit of 10: %+v, %q", exit, got)
	}
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	for name, c := range map[string]struct {
		config map[string]any
		user   string
		want   string
	}{
		"no command":  {map[string]any{}, "", "config has no command"},
		"unknown":     {map[string]any{"command": "no-such-thing"}, "", "command not found: no-such-thing (looked in /local, /, "},
		"not shown":   {map[string]any{"command": "/root/x"}, "", "command not found: /root/x"},
		"user":        {supervisetest.Shell("true"), "nobody-of-that-name", "user nobody-of-that-name does not exist"},
		"pid_mode":    {map[string]any{"command": "true", "pid_mode": "shared"}, "", `config pid_mode must be "private" or "host"`},
		"capability":  {map[string]any{"command": "true", "cap_add": []any{"fly"}}, "", `unknown capability "fly"`},
		"work_dir":    {map[string]any{"command": "true", "work_dir": "/nowhere"}, "", "working directory /nowhere, as the task sees it"},
		"interpreter": {map[string]any{"command": "bad-script"}, "", "the interpreter or loader that it names does not exist"},
		"directory":   {map[string]any{"command": "/usr"}, "", "/usr is a directory"},
	} {
		task := supervisetest.Task(t, name, c.config)
		task.User = c.user
		if err := os.WriteFile(task.Dir.Local+"/bad-script", []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := d.Start(t.Context(), task)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if _, err := d.Recover(t.Context(), task); err != driver.ErrTaskUnknown {
			t.Errorf("%s: recover of what did not start: %v", name, err)
		}
	}
}

func TestATerminal(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	h, err := d.Start(t.Context(), supervisetest.Task(t, "t", supervisetest.Shell("exec sleep 1000")))
	if err != nil {
		t.Fatal(err)
	}
	resize := make(chan driver.Size, 1)
	resize <- driver.Size{Rows: 33, Cols: 77}
	in, typed := io.Pipe()
	defer in.Close()
	out := new(bytes.Buffer)
	go func() {
		io.WriteString(typed, "until [ \"$(stty size)\" = '33 77' ]; do sleep 0.01; done; stty size; test -t 0 && echo a terminal; exit 3\n")
	}()
	code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh"}, TTY: true, Stdin: in, Stdout: out, Resize: resize})
	if err != nil || code != 3 {
		t.Errorf("exec: %d, %v", code, err)
	}
	if !strings.HasSuffix(out.String(), "33 77\r\na terminal\r\n") {
		t.Errorf("on the terminal: %q", out.String())
	}
}

func TestExecEndsWithItsContextAndItsTask(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "t", supervisetest.Shell("exec sleep 1000"))
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	processes := func() int {
		s, err := h.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Processes
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Exec(ctx, driver.Exec{Argv: []string{"sh", "-c", "sleep 1000 & wait"}})
		ended <- err
	}()
	wait.Until(t, "the command runs", func() bool { return processes() == 3 })
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("exec: %v", err)
	}
	wait.Until(t, "the command is gone", func() bool { return processes() == 1 })
	go func() {
		code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", "touch /local/entered; exec sleep 1000"}})
		if code != 137 {
			err = fmt.Errorf("code %d, %w", code, err)
		}
		ended <- err
	}()
	appears(t, task.Dir.Local+"/entered")
	if err := h.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("exec into a task that was stopped: %v", err)
	}
}

// TestExecIntoATaskThatEnds stops the task while commands enter it: they end with it, or are told so.
func TestExecIntoATaskThatEnds(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	for i := range 10 {
		h, err := d.Start(t.Context(), supervisetest.Task(t, fmt.Sprint("t", i), supervisetest.Shell("exec sleep 1000")))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sleep", "1000"}})
			if err == nil && code != 137 {
				err = fmt.Errorf("code %d", code)
			}
			ended <- err
		}()
		wait.Until(t, "the command enters", func() bool {
			s, err := h.Stats(t.Context())
			return err != nil || s.Processes > 1
		})
		if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "the task has ended") {
			t.Errorf("exec into a task that ends: %v", err)
		}
	}
}

// A task in the host's network may have a resolver of its own. What another task put into its place does
// not redirect the file.
func TestResolverInTheHostsNetwork(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "r", supervisetest.Shell("cat /etc/resolv.conf; echo > /etc/resolv.conf; hostname"))
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	task.Resolver = "nameserver 192.0.2.53\n"
	victim := supervisetest.Dir(t) + "/file"
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, place := range []func(string) error{
		func(path string) error { return os.Symlink(victim, path) },
		func(path string) error { return os.Link(victim, path) },
		func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		path := task.Dir.Task + "/resolv.conf"
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		before := len(supervisetest.Output(t, task.Logs.StdoutPrefix))
		task.ID += "r"
		if _, exit := run(t, d, task); exit.Code != 0 {
			t.Errorf("exit %+v", exit)
		}
		if got, want := supervisetest.Output(t, task.Logs.StdoutPrefix)[before:], task.Resolver+name+"\n"; got != want {
			t.Errorf("the task prints %q, want %q", got, want)
		}
	}
	if got, _ := os.ReadFile(victim); string(got) != "mine" {
		t.Errorf("the file of the host holds %q", got)
	}
}
