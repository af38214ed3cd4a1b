// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestGivenUpTogetherIsTriedAgainAsOne(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("waits", "a", map[string]bool{"x": false}))
		b.put(eval("1", "a", 50))
		b.put(eval("2", "a", 50))
		for range 3 {
			b.broker.Nack(b.want("2", "1", "waits"))
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		next := map[string]bool{}
		for _, id := range []string{"1", "2", "waits"} {
			e := b.store.Snapshot().Evaluation(id)
			if e.Status != api.EvalStatusFailed {
				b.Errorf("evaluation %s is %s, want it failed", id, e.Status)
			}
			next[e.NextEval] = true
		}
		if len(next) != 1 {
			b.Errorf("follow-ups %v, want one for all", next)
		}
		time.Sleep(time.Minute)
		d := b.take()
		if d == nil || !next[d.Evaluation.ID] || len(d.Riders) != 0 {
			b.Errorf("delivery %+v, want the follow-up alone", d)
		}
	})
}
