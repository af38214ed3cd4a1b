// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

func TestTheAllocationOfACallerIsKnownWhileTheNodeHasIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "one")
		s.until(t, api.AllocClientRunning, 1)
		group := uint64(d.Process("t").PID())
		want(t, "allocation of the task's group", "one", n.CallerIn(group))
		want(t, "allocation of another group", "", n.CallerIn(group+1000))
		s.messages <- placed(j, true)
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "allocation after its end", "", n.CallerIn(group))
	})
}
