// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A fleet beside a server that is not the simulation's own is quiet for as long as
// the scenario says, too.
func TestAFleetIsQuietBesideAnyServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := &run{scenario: &Scenario{QuietFor: time.Minute}, options: Options{Progress: &said}}
		time.AfterFunc(30*time.Second, func() { r.heartbeats.Add(7) })
		if err := r.rest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if q := r.quietReport; q.Took != time.Minute || q.Heartbeats != 7 || q.CPUTime != 0 {
			t.Errorf("the report is %+v, want a minute with 7 heartbeats and no processor time", q)
		}
		if !strings.Contains(said.String(), "quiet for") {
			t.Errorf("it says %q, want that it was quiet", said.String())
		}
	})
}
