// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// TestStickyDataMovesToTheReplacement stops an allocation whose directory is
// sticky, and looks for its data in the one that takes its place.
func TestStickyDataMovesToTheReplacement(t *testing.T) {
	for _, sticky := range []bool{true, false} {
		inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
			start()
			j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
			j.Groups[0].EphemeralDisk = &api.EphemeralDisk{Sticky: &sticky}
			s.messages <- placed(j, true, "one")
			first := d.Wait(1)
			if err := os.WriteFile(filepath.Join(first.Task.Dir.Local, "db"), []byte("rows"), 0o600); err != nil {
				t.Fatal(err)
			}
			m := placed(j, false, "one", "two")
			m.Allocations[0].DesiredStatus, m.Allocations[0].AllocModifyIndex = api.AllocDesiredStop, 2
			m.Allocations[1].PreviousAllocation = "one"
			s.messages <- m
			second := d.Wait(2)
			data, err := os.ReadFile(filepath.Join(second.Task.Dir.Local, "db"))
			if (err == nil) != sticky || sticky && string(data) != "rows" {
				t.Errorf("sticky %t: the replacement finds %q, %v", sticky, data, err)
			}
		})
	}
}
