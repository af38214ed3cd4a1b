// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// patient is a policy that begins with immediate attempts, then waits longer and
// longer, and forgets what was.
func patient(attempts int) *api.Restart {
	return &api.Restart{
		Attempts: ptr(attempts), Immediate: ptr(2), Delay: ptr(30 * time.Second), DelayFunction: ptr(api.DelayExponential),
		MaxDelay: ptr(16 * time.Minute), ResetAfter: ptr(5 * time.Minute), Mode: ptr(api.RestartModeFail),
	}
}

func TestRestartsBackOffUntilTheyAreUsedUp(t *testing.T) {
	p, now := patient(199), time.Unix(1000, 0)
	var w restarts
	want := []time.Duration{0, 0, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute}
	for n := 1; n <= 199; n++ {
		expect := want[min(n, len(want))-1]
		v := w.next(p, "Exit Code: 1", now, 0, 0)
		if !v.restart || v.delay != expect || w.Next != now.Add(expect) {
			t.Fatalf("attempt %d: %+v at %s; want %s", n, v, w.Next, expect)
		}
		now = now.Add(v.delay + 40*time.Minute) // the interval has no say
	}
	if v := w.next(p, "Exit Code: 1", now, 5*time.Minute-1, 0); v.restart || v.message != "Exit Code: 1, not restarting: 199 attempts without being well for 5m used up" || !w.Next.IsZero() {
		t.Errorf("the 200th crash: %+v", v)
	}
	if v := w.next(p, "Exit Code: 1", now, 5*time.Minute, 0); !v.restart || v.message != "Exit Code: 1, restarting immediately (attempt 1 of 199 without being well for 5m)" {
		t.Errorf("after 5 minutes of being well: %+v", v)
	}
}

func TestDelaysGrowByTheirFunction(t *testing.T) {
	for function, want := range map[string][]time.Duration{
		"constant": {10, 10, 10, 10, 10, 10}, "exponential": {10, 20, 40, 60, 60, 60}, "fibonacci": {10, 10, 20, 30, 50, 60},
	} {
		p := &api.Restart{Delay: ptr(10 * time.Second), DelayFunction: &function, MaxDelay: ptr(time.Minute)}
		for i, d := range want {
			if got := p.DelayBefore(i + 1); got != d*time.Second {
				t.Errorf("%s: attempt %d waits %s; want %s", function, i+1, got, d*time.Second)
			}
			if got := delayWithJitter(p, i+1, 1); got > time.Minute {
				t.Errorf("%s: attempt %d waits %s with its jitter, longer than the longest delay", function, i+1, got)
			}
		}
	}
	p := &api.Restart{Delay: ptr(time.Duration(1)), DelayFunction: ptr("exponential"), MaxDelay: ptr(time.Duration(1<<63 - 1))}
	if got := p.DelayBefore(1 << 40); got != *p.MaxDelay {
		t.Errorf("the delay grows to %s; want %s", got, *p.MaxDelay)
	}
}

func TestCrashesAreCountedAndTriedAgainAtTheirTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", func(t *api.Task) { t.Restart = patient(4) }))
		r := b.start(a)
		if r.Report().Crashes != nil {
			t.Error("crashes are reported before there was one")
		}
		crash := func(n, count int) {
			b.Helper()
			p := b.driver.Wait(n)
			p.Exit(17)
			synctest.Wait()
			c := r.Report().Crashes
			b.want("count", []any{count, n, `task "web": exited with code 17 after ` + formatRunTime(time.Since(p.StartedAt())), time.Now().UnixNano()}, []any{c.Count, c.Total, c.Reason, c.At})
		}
		begun := time.Now()
		crash(1, 1)
		crash(2, 2)
		b.want("time of two immediate attempts", time.Duration(0), time.Since(begun))
		b.want("next", int64(0), r.Report().Crashes.Next)
		crash(3, 3)
		next := time.Unix(0, r.Report().Crashes.Next)
		if d := next.Sub(begun); d < 30*time.Second || d > 38*time.Second {
			t.Errorf("the third attempt comes after %s; want 30s and up to a quarter more", d)
		}
		time.Sleep(time.Until(next) - 1)
		b.want("running just before", []string(nil), b.driver.Running())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		b.want("running at its time", []string{"web"}, b.driver.Running())
		b.want("next", int64(0), r.Report().Crashes.Next)

		time.Sleep(5 * time.Minute)
		crash(4, 1) // it was well for long enough
		b.want("running", []string{"web"}, b.driver.Running())
		for n, count := 5, 2; n < 8; n, count = n+1, count+1 {
			crash(n, count)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		crash(8, 5)
		b.want("status", api.AllocClientFailed, r.Status())
		b.want("next", int64(0), r.Report().Crashes.Next)
	})
}

func TestNextAttemptIsOnRecord(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", func(t *api.Task) { t.Restart = patient(9); t.Restart.Immediate = ptr(0) }))
		a.Crashes = &api.Crashes{Count: 7, Total: 9, Reason: "of the one before"}
		r := b.start(a)
		p := b.driver.Wait(1)
		p.Exit(1)
		synctest.Wait()
		r.mu.Lock()
		r.tasks[0].addEvent(message("Something else is told meanwhile"))
		r.save()
		r.mu.Unlock()
		before := *r.Report().Crashes
		b.want("inherited", []int{8, 10}, []int{before.Count, before.Total})
		time.Sleep(10 * time.Second)
		b.close()
		time.Sleep(10 * time.Second)
		b.open()
		r = b.restore(a.Job)
		b.want("crashes", &before, r.Report().Crashes)
		time.Sleep(time.Until(time.Unix(0, before.Next)) - 1)
		b.want("running just before", []string(nil), b.driver.Running())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		b.want("running at its time", []string{"web"}, b.driver.Running())
	})
}

func TestWellIsWhatItsLivenessChecksPassed(t *testing.T) {
	inBubble(t, func(b *bench) {
		spec := taskSpec("main", checked("liveness"), func(t *api.Task) { t.Restart = patient(9) })
		r, _ := b.starting(allocation("service", spec), "liveness")
		time.Sleep(10 * time.Minute) // it runs, and is not well
		b.driver.Process("main").Exit(1)
		synctest.Wait()
		b.driver.Process("main").Exit(1)
		synctest.Wait()
		if c := r.Report().Crashes; c.Count < 2 || !strings.Contains(c.Reason, "exited with code 1") {
			t.Errorf("crashes: %+v; want what never was well to be counted on", c)
		}
	})
}

func TestWordsOfACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		a.AllocatedResources = &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"web": {Memory: api.AllocatedMemory{MemoryMB: 32}}}}
		web := New(b.host, a).tasks[0]
		for _, c := range []struct {
			exit driver.Exit
			ran  time.Duration
			want string
			kind api.TroubleKind
		}{
			{driver.Exit{Code: 17}, 1234567 * time.Nanosecond, "exited with code 17 after 1ms", api.TroubleExited},
			{driver.Exit{Code: 1}, 61*time.Second + 499*time.Millisecond, "exited with code 1 after 1m1s", api.TroubleExited},
			{driver.Exit{}, 3249 * time.Millisecond, "exited with code 0 after 3.2s, although it is to keep running", api.TroubleExited},
			{driver.Exit{Code: 139, Signal: 11}, time.Hour, "ended by signal 11 (SIGSEGV) after 1h", api.TroubleKilled},
			{driver.Exit{Code: 137, Signal: 9, OOMKilled: true}, time.Second, "out of memory: killed by the kernel (exit code 137) after 1s", api.TroubleOutOfMemory},
			{driver.Exit{Err: driver.ErrTaskLost}, time.Second, "its process ended, and its exit was not observed", api.TroubleExited},
			{driver.Exit{Code: 1}, -time.Second, "exited with code 1 after 0s", api.TroubleExited}, // the clock was put back
		} {
			b.want("words", c.want, web.describeCrash(c.exit, c.ran))
			is := web.crashOf(c.exit, c.ran, "")
			if is != (crash{c.want, c.kind, c.exit.Code, c.exit.Signal}) {
				b.Errorf("%s: the crash is %+v, want kind %s", c.want, is, c.kind)
			}
		}
	})
}
