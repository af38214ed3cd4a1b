// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// TestProgressReplacesItself has a driver report a hundred times before the task runs: the first message and the
// last one stay, and the events before them.
func TestProgressReplacesItself(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.driver.Starting = func(t *driver.Task) error {
			t.Notify("Pulling")
			for n := range 100 {
				t.Progress(fmt.Sprintf("Pulling: %d of 99", n), int64(n), 99)
			}
			t.Notify("Pulled")
			return nil
		}
		r := b.start(allocation("service", taskSpec("web")))
		b.driver.Wait(1)
		synctest.Wait()
		var got []string
		for _, e := range r.Report().TaskStates["web"].Events {
			if e.Details[api.DetailBytesTotal] != "" {
				t.Errorf("progress stayed: %+v", e)
			}
			got = append(got, e.Type)
		}
		b.want("events", []string{api.EventReceived, api.EventTaskSetup, api.EventDriverMessage, api.EventDriverMessage, api.EventStarted}, got)
	})
}
