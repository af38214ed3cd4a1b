// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestEndingATaskLeavesNothing(t *testing.T) {
	for name, script := range map[string]string{
		"children":           `sleep 1000 & echo $!; sleep 1000 & echo $!; echo $$; wait`,
		"grandchildren":      `sh -c 'sleep 1000 & echo $!; wait' & echo $!; echo $$; wait`,
		"daemon":             `setsid sh -c 'sleep 1000 & echo $!; echo $$; exec >/dev/null 2>&1; wait' & sleep 0.1; echo $$; wait`,
		"orphaned daemon":    `setsid sh -c '(setsid sh -c "echo \$\$; echo x >&2; exec sleep 1000" &) ; echo $$; sleep 1000' & echo $$; wait`,
		"deaf to the signal": `trap "" TERM; (trap "" TERM; echo $$; sleep 1000) & echo $!; echo $$; wait`,
	} {
		everyKind(t, func(t *testing.T, c *supervise.Client) {
			spec := shell(t, "t/"+name, script)
			p := start(t, c, spec)
			var all []witness
			for _, pid := range output(t, spec, 3) {
				all = append(all, see(t, pid))
			}
			if err := p.Stop(t.Context(), "SIGTERM", 50*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			for _, w := range all {
				if !w.gone() {
					t.Errorf("%s: process %d still runs after Stop", name, w.pid)
				}
			}
		})
	}
}

// TestAProcessThatIsBecomingAnotherProgramEnds has a process outside of its
// task's session execute programs all the time: for a moment of each it shows no
// environment.
func TestAProcessThatIsBecomingAnotherProgramEnds(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		for i := range 20 {
			spec := shell(t, fmt.Sprint("t", i), `echo 'exec sh ./again' > again; (setsid sh -c 'echo $$; exec sh ./again' &); exec sleep 1000`)
			p := start(t, c, spec)
			w := see(t, output(t, spec, 1)[0])
			if err := p.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
				t.Fatal(err)
			}
			if !w.gone() {
				t.Errorf("process %d still runs after Stop", w.pid)
			}
		}
	})
}

func TestWhatATaskLeavesBehindEndsWithIt(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := shell(t, "t", `sleep 1000 & echo $!; setsid sleep 1000 & echo $!; read x </dev/zero & sleep 0.2; exit 4`)
		p := start(t, c, spec)
		left := output(t, spec, 2)
		a, b := see(t, left[0]), see(t, left[1])
		if e := waitForExit(t, p); e.Code != 4 {
			t.Errorf("exit %+v, want code 4", e)
		}
		if !a.gone() || !b.gone() {
			t.Error("a process outlived its task")
		}
	})
}

func TestStopWaitsThenForces(t *testing.T) {
	c := supervisetest.Connect(t)
	polite := shell(t, "polite", `trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.01; done`)
	deaf := shell(t, "deaf", `trap "" INT; echo ready; while :; do sleep 0.01; done`)
	p, d := start(t, c, polite), start(t, c, deaf)
	output(t, polite, 1)
	output(t, deaf, 1)
	if err := p.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
		t.Fatal(err)
	}
	if e := waitForExit(t, p); e.Code != 0 || e.Signal != 0 {
		t.Errorf("polite task: %+v, want code 0", e)
	}
	if got := output(t, polite, 2); got[1] != "bye" {
		t.Errorf("polite task printed %q", got)
	}
	begin := time.Now()
	if err := d.Stop(t.Context(), "SIGINT", 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if e := waitForExit(t, d); e.Signal != 9 || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("deaf task: %+v after %v, want SIGKILL after 100ms", e, time.Since(begin))
	}
}

func TestSignalsByName(t *testing.T) {
	c := supervisetest.Connect(t)
	spec := shell(t, "t", `trap "echo hup" HUP; trap "echo usr1" USR1; echo ready; while :; do sleep 0.01; done`)
	p := start(t, c, spec)
	output(t, spec, 1)
	for i, name := range []string{"SIGHUP", "usr1", "1"} {
		if err := p.Signal(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		output(t, spec, 2+i)
	}
	if got, want := strings.Join(output(t, spec, 4), " "), "ready hup usr1 hup"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	if err := p.Signal(t.Context(), "SIGNONE"); err == nil || !strings.Contains(err.Error(), `unknown signal "SIGNONE"`) {
		t.Errorf("unknown signal: %v", err)
	}
	if err := p.Stop(t.Context(), "SIGKILL", time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(t.Context(), "SIGHUP"); err != supervise.ErrTaskEnded {
		t.Errorf("signal to an ended task: %v", err)
	}
}

func TestLogsAreBounded(t *testing.T) {
	c := supervisetest.Connect(t)
	spec := shell(t, "t", `i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done`)
	spec.Logs.MaxFiles, spec.Logs.MaxFileBytes = 3, 10_000
	if e := waitForExit(t, start(t, c, spec)); e.Code != 0 {
		t.Fatalf("exit %+v", e)
	}
	files := supervise.LogFiles(spec.Logs.StdoutPrefix)
	if len(files) != 3 {
		t.Errorf("files %q, want 3", files)
	}
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || st.Size() > 10_000 {
			t.Errorf("%s: %v, %v; want at most 10000 bytes", f, st.Size(), err)
		}
	}
	got := supervisetest.Output(t, spec.Logs.StdoutPrefix)
	if !strings.HasSuffix(got, "line 19998\nline 19999\n") || !strings.Contains(got, "line 19000\nline 19001\n") {
		t.Errorf("the newest output is not whole: ...%q", got[max(0, len(got)-50):])
	}
	// The next run goes on where this one ended.
	again := shell(t, "again", `echo more`)
	again.Logs = spec.Logs
	waitForExit(t, start(t, c, again))
	if got := supervisetest.Output(t, spec.Logs.StdoutPrefix); !strings.HasSuffix(got, "line 19999\nmore\n") {
		t.Errorf("after a second run: ...%q", got[max(0, len(got)-50):])
	}
}

func TestManyStartAtOnce(t *testing.T) {
	c := supervisetest.Connect(t)
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			spec := shell(t, fmt.Sprintf("t/%d", i), fmt.Sprintf("echo %d; exit %d", i, i%128))
			p, err := c.Start(t.Context(), spec)
			if err != nil {
				t.Error(err)
				return
			}
			e, err := p.Wait(t.Context())
			if err != nil || e.Code != i%128 {
				t.Errorf("task %d: %+v, %v", i, e, err)
			}
			if got := supervisetest.Output(t, spec.Logs.StdoutPrefix); got != fmt.Sprintf("%d\n", i) {
				t.Errorf("task %d printed %q", i, got)
			}
			if err := p.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	tasks, err := c.List(t.Context())
	if err != nil || len(tasks) != 0 {
		t.Errorf("%d tasks are left, %v", len(tasks), err)
	}
}

func TestOneTaskPerID(t *testing.T) {
	c := supervisetest.Connect(t)
	p := start(t, c, shell(t, "t", "sleep 1000"))
	if _, err := c.Start(t.Context(), shell(t, "t", "true")); err == nil || !strings.Contains(err.Error(), "task t exists already") {
		t.Errorf("second start: %v", err)
	}
	if err := p.Destroy(t.Context()); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("destroy of a running task: %v", err)
	}
	if _, err := c.Attach(t.Context(), "other"); err != driver.ErrTaskUnknown {
		t.Errorf("attach to what never was: %v", err)
	}
}

func TestStatsMeasureTheTask(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := shell(t, "t", `sleep 1000 & i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo ready; wait`)
		p := start(t, c, spec)
		output(t, spec, 1)
		s, err := p.Stats(t.Context())
		if err != nil || s.Processes != 2 || s.RSSBytes < 100<<10 || s.CPUTime <= 0 {
			t.Errorf("stats %+v, %v; want 2 processes, some memory and time", s, err)
		}
	})
}

func TestALongDirectoryWorks(t *testing.T) {
	dir := filepath.Join(supervisetest.Dir(t), strings.Repeat("long/", 40))
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	c := supervisetest.ConnectTo(t, dir)
	if e := waitForExit(t, start(t, c, shell(t, "t", "exit 3"))); e.Code != 3 {
		t.Errorf("exit %+v", e)
	}
	if st, err := os.Stat(dir + "/supervisor.sock"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want mode 0600", st.Mode(), err)
	}
}

func TestClientsAtOnceShareOneSupervisor(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	var wg sync.WaitGroup
	pids := make(chan int, 8)
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := supervise.Connect(t.Context(), supervise.Config{Dir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			pids <- c.PID()
			c.Close()
		}()
	}
	wg.Wait()
	close(pids)
	first := <-pids
	for pid := range pids {
		if pid != first {
			t.Errorf("supervisors %d and %d", first, pid)
		}
	}
}

// TestNothingIsLeftThatIsStartedDuringAShutdown starts tasks until it is refused,
// while another client has everything stopped.
func TestNothingIsLeftThatIsStartedDuringAShutdown(t *testing.T) {
	dir := supervisetest.Dir(t)
	c := supervisetest.ConnectTo(t, dir)
	var wg sync.WaitGroup
	begun := make(chan struct{}, 1000)
	for i := range 4 {
		wg.Go(func() {
			for n := 0; t.Context().Err() == nil; n++ {
				if _, err := c.Start(t.Context(), shell(t, fmt.Sprintf("t%d-%d", i, n), ": "+dir+"; sleep 1000 & wait")); err != nil {
					return
				}
				begun <- struct{}{}
			}
		})
	}
	for range 20 {
		<-begun
	}
	if err := c.Shutdown(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), ": "+dir+"; sleep") {
			t.Errorf("%s is left: %q", file, text)
		}
	}
}

func TestASupervisorWithoutWorkEnds(t *testing.T) {
	dir := supervisetest.Dir(t)
	c := supervisetest.ConnectTo(t, dir)
	p := start(t, c, shell(t, "t", "exit 6"))
	waitForExit(t, p)
	fd, err := unix.PidfdOpen(c.PID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	c.Close()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000)
	}
	if n != 1 {
		t.Fatalf("the supervisor still runs: %v", err)
	}
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	again, err := supervisetest.ConnectTo(t, dir).Attach(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if e := waitForExit(t, again); e.Code != 6 {
		t.Errorf("exit %+v; want the code that the one before saw", e)
	}
}
