// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
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

// TestDataOfAnotherNodeIsTakenOver packs the data of an ended allocation on one
// node, and lets another one have it that waits for it.
func TestDataOfAnotherNodeIsTakenOver(t *testing.T) {
	for _, broken := range []bool{false, true} {
		inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
			n := start()
			j := jobOf("batch", &api.Task{Name: "t", Driver: "fake"})
			j.Groups[0].EphemeralDisk = &api.EphemeralDisk{Migrate: new(true)}
			s.messages <- placed(j, true, "one")
			first := d.Wait(1)
			if err := os.WriteFile(filepath.Join(first.Task.Dir.Local, "db"), []byte("rows"), 0o600); err != nil {
				t.Fatal(err)
			}
			first.Exit(0)
			s.until(t, api.AllocClientComplete, 1)

			// The same node plays the other one: it does not know "elsewhere".
			n.config.Data = func(_ context.Context, alloc string) (io.ReadCloser, error) {
				want(t, "asked for", "elsewhere", alloc)
				if broken {
					return nil, errors.New("its node is not reached")
				}
				w := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "/v1/client/allocation/one/snapshot", nil)
				n.Handler().ServeHTTP(w, r)
				return w.Result().Body, nil
			}
			m := placed(j, false, "two")
			m.Allocations[0].PreviousAllocation = "elsewhere"
			s.messages <- m
			second := d.Wait(2)
			data, err := os.ReadFile(filepath.Join(second.Task.Dir.Local, "db"))
			if (err == nil) == broken || !broken && string(data) != "rows" {
				t.Errorf("broken %t: the replacement finds %q, %v", broken, data, err)
			}
		})
	}
}

func TestDataOfARunningAllocationIsNotSent(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, "one")
		d.Wait(1)
		s.until(t, api.AllocClientRunning, 1)
		w := httptest.NewRecorder()
		n.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/client/allocation/one/snapshot", nil))
		want(t, "status", http.StatusConflict, w.Code)
	})
}
