// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// TestAnInterruptedStartLeavesNoProcessBehind ends the contexts of starts at any
// moment: what was started is known, and what is not known was not started.
func TestAnInterruptedStartLeavesNoProcessBehind(t *testing.T) {
	c := supervisetest.Connect(t)
	d := rawexec.New(c)
	known := map[string]bool{}
	var mu sync.Mutex
	var starts sync.WaitGroup
	for i := range 40 {
		task := supervisetest.Task(t, fmt.Sprintf("a/web/%d", i), supervisetest.Shell("exec sleep 1000"))
		starts.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
			defer cancel()
			h, err := d.Start(ctx, task)
			mu.Lock()
			defer mu.Unlock()
			known[task.ID] = err == nil
			if err == nil {
				t.Cleanup(func() { _ = h.Stop(context.Background(), "SIGKILL", 0) })
			}
		})
	}
	starts.Wait()
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !known[s.ID] {
			t.Errorf("%s runs as process %d, and its start said that it does not", s.ID, s.PID)
		}
		delete(known, s.ID)
	}
	for id, ok := range known {
		if ok {
			t.Errorf("%s does not run, and its start said that it does", id)
		}
	}
}
