// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestProgressIsRare has pulls of different lengths report ten times per second.
func TestProgressIsRare(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			length time.Duration
			want   []int64 // percent
		}{
			{2900 * time.Millisecond, nil},
			{10 * time.Second, []int64{30, 80}},
			{20 * time.Second, []int64{15, 40, 65, 90}},
		} {
			var got []int64
			var notes []string
			p := NewProgress(&driver.Task{
				Notify:   func(s string) { notes = append(notes, s) },
				Progress: func(_ string, done, total int64) { got = append(got, 100*done/total) },
			}, "app:1")
			for at := time.Duration(0); at < c.length; at += 100 * time.Millisecond {
				p.Report(int64(at), int64(c.length), "")
				bubble.Pass(100 * time.Millisecond)
			}
			p.Finish(c.length, 5e6)
			if !slices.Equal(got, c.want) || len(notes) != 2 {
				t.Errorf("a pull of %s: progress at %v percent, want %v; messages %q", c.length, got, c.want, notes)
			}
		}
	})
}
