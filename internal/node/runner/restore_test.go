// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestRestoredTaskIsFoundAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", policy(2, "fail")))
		b.start(a)
		b.driver.Wait(1)
		b.close()

		b.open()
		r := b.restore(a.Job)
		b.want("status", api.AllocClientRunning, r.Status())
		b.want("started", 1, len(b.driver.Started()))
		b.want("event", "Restored: Found again after the agent restarted: runs as process 1000", story(r, "web")[3])
		b.close()

		b.driver.Process("web").Exit(7) // while no agent runs
		b.open()
		r = b.restore(a.Job)
		b.want("event", "Terminated: Exit Code: 7", story(r, "web")[5])
		b.driver.Wait(2)
		synctest.Wait()
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestRestartDelayGoesOnAfterTheAgentRestarted(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", policy(2, "fail")))
		b.start(a)
		begun := time.Now()
		p := b.driver.Wait(1)
		p.Exit(1)
		time.Sleep(5 * time.Second)
		b.close()
		b.driver.Remember(p) // the agent was killed before it could let go of it
		time.Sleep(5 * time.Second)
		b.open()
		r := b.restore(a.Job)
		b.driver.Wait(2)
		synctest.Wait()
		if d := time.Since(begun); d < 16*time.Second || d > 20*time.Second {
			b.Errorf("restarted after %s; want 16s and up to a quarter more", d)
		}
		b.want("restarts", uint64(1), r.Report().TaskStates["web"].Restarts)
	})
}

func TestLostProcessIsRestarted(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", policy(1, "fail")))
		b.start(a)
		b.close()
		b.driver.Forget()
		b.open()
		r := b.restore(a.Job)
		b.want("event", "Lost: The task's process ended and its exit was not observed", story(r, "web")[3])
		b.driver.Wait(2)
		synctest.Wait()
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func (b *bench) restore(job *api.Job) *Runner {
	b.Helper()
	var r *Runner
	b.host.Ledger.Each(KeyAllocation, func(_ string, value []byte) error {
		var err error
		r, err = Restore(b.host, value, func(string, string, string, uint64) *api.Job { return job })
		if err != nil {
			b.Fatal(err)
		}
		return nil
	})
	if r != nil {
		r.Resume()
		synctest.Wait()
	}
	return r
}
