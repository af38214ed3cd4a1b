// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// serving is a daemon: it leaves its session and its parent, and prints its pid.
// It ends with 7 when its directory has a file "stop", and with 3 by SIGTERM.
const serving = `cat > daemon <<'END'
trap 'echo told; exit 3' TERM
echo $$
while [ ! -e stop ]; do sleep 0.01; done
exit 7
END
setsid sh -c '(setsid sh ./daemon &)'
echo first $$ ends`

func daemon(t testing.TB, id, script string) *supervise.Spec {
	spec := shell(t, id, script)
	spec.Daemon = true
	return spec
}

// background waits until a daemon's first process has ended, and returns what it
// left: the process that printed nothing but its pid.
func background(t testing.TB, p *supervise.Process, spec *supervise.Spec) witness {
	t.Helper()
	if !p.Background(t.Context()) {
		t.Fatalf("task %s does not go on in the background", spec.ID)
	}
	for _, line := range strings.Split(supervisetest.Output(t, spec.Logs.StdoutPrefix), "\n") {
		if line != "" && strings.Trim(line, "0123456789") == "" {
			return see(t, line)
		}
	}
	output(t, spec, 4)
	return background(t, p, spec)
}

func TestDaemonGoesOnUntilItEnds(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := daemon(t, "t/d/1", serving)
		p := start(t, c, spec)
		w := background(t, p, spec)
		if w.gone() {
			t.Fatal("the daemon has ended with its first process")
		}
		if st, err := p.Stats(t.Context()); err != nil || st.Processes == 0 {
			t.Errorf("stats %+v, %v; want its processes", st, err)
		}
		touch(t, spec.Dir+"/stop")
		if e := waitForExit(t, p); e.Code != 7 || !e.Background || e.Err != nil {
			t.Errorf("exit %+v; want the daemon's code 7, in the background", e)
		}
		if !w.gone() {
			t.Error("the daemon still runs")
		}
		if got := supervisetest.Output(t, spec.Logs.StdoutPrefix); !strings.Contains(got, "ends\n") {
			t.Errorf("output %q", got)
		}
	})
}

func TestStoppingADaemonSignalsWhatIsLeft(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := daemon(t, "t/d/1", serving)
		p := start(t, c, spec)
		w := background(t, p, spec)
		if err := p.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
			t.Fatal(err)
		}
		if e := waitForExit(t, p); !w.gone() || e.Code == 137 {
			t.Errorf("exit %+v, gone: %t; want the end of a daemon that heeds the signal", e, w.gone())
		}
		if got := supervisetest.Output(t, spec.Logs.StdoutPrefix); !strings.Contains(got, "told") {
			t.Errorf("output %q; want what it says to the signal", got)
		}

		deaf := daemon(t, "t/d/2", strings.ReplaceAll(serving, "trap 'echo told; exit 3' TERM", "trap '' TERM"))
		p = start(t, c, deaf)
		w = background(t, p, deaf)
		if err := p.Stop(t.Context(), "SIGTERM", 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if e := waitForExit(t, p); !w.gone() || e.Signal != 9 {
			t.Errorf("exit %+v, gone: %t; want it ended by force", e, w.gone())
		}
	})
}

func TestDaemonThatLeavesNothingHasEnded(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		for code := range 2 {
			spec := daemon(t, fmt.Sprint("t/d/", code), fmt.Sprintf("exit %d", code))
			p := start(t, c, spec)
			if e := waitForExit(t, p); e.Code != code || e.Background {
				t.Errorf("exit %+v; want code %d, and nothing in the background", e, code)
			}
			if p.Background(t.Context()) {
				t.Error("it is said to go on in the background")
			}
		}
		// One that fails takes all with it.
		spec := daemon(t, "t/d/failing", "setsid sh -c 'echo $$; exec sleep 1000' & until [ -e go ]; do sleep 0.01; done; exit 5")
		p := start(t, c, spec)
		w := see(t, output(t, spec, 1)[0])
		touch(t, spec.Dir+"/go")
		if e := waitForExit(t, p); e.Code != 5 || !w.gone() {
			t.Errorf("exit %+v, gone: %t; want code 5, and nothing left", e, w.gone())
		}
	})
}

// A command beside a daemon, such as its monitor, is not the daemon.
func TestCommandBesideADaemonDoesNotKeepIt(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := daemon(t, "t/d/1", serving)
		p := start(t, c, spec)
		background(t, p, spec)
		beside := make(chan int, 1)
		go func() {
			code, _ := p.Exec(t.Context(), supervise.Command{Path: "/bin/sh", Argv: []string{"sh", "-c", "touch beside; exec sleep 1000"}, Env: spec.Env, Dir: spec.Dir}, driver.Exec{})
			beside <- code
		}()
		wait.Until(t, "the command runs", func() bool {
			_, err := os.Stat(spec.Dir + "/beside")
			return err == nil
		})
		touch(t, spec.Dir+"/stop")
		if e := waitForExit(t, p); e.Code != 7 {
			t.Errorf("exit %+v; want 7", e)
		}
		if code := <-beside; code != 137 {
			t.Errorf("the command beside it ended with %d; want 137: it goes with the task", code)
		}
	})
}

func TestDaemonOutlivesAgentsAndUpgrades(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		spec := daemon(t, "t/d/1", serving)
		w := background(t, start(t, c, spec), spec)
		for range 3 {
			if err := c.Upgrade(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		dir := c.Dir()
		c.Close()
		again := supervisetest.ConnectTo(t, dir)
		p, err := again.Attach(t.Context(), spec.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Background(t.Context()) || w.gone() {
			t.Fatalf("daemon gone: %t", w.gone())
		}
		touch(t, spec.Dir+"/stop")
		if e := waitForExit(t, p); e.Code != 7 || !e.Background {
			t.Errorf("exit %+v; want 7, in the background", e)
		}
	})
}
