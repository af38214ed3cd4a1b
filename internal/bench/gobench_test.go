// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBenchmarksAreRead(t *testing.T) {
	m := metrics{}
	if m.parse("PASS\nok  	example	1s\n") {
		t.Error("there were none")
	}
	m.parse("goos: linux\nBenchmarkPlace/plain/nodes=10000-2   \t  50\t   2677706 ns/op\t  498.9 B/placement\t 373454 placements/s\nPASS\n")
	want := metrics{"Place/plain/nodes=10000": {"ns/op": 2677706, "B/placement": 498.9, "placements/s": 373454}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := m.of("Place/plain/nodes=10000", "checks/s"); err == nil {
		t.Error("a figure that was not reported was given")
	}
}

func TestFiguresForPeople(t *testing.T) {
	for v, want := range map[float64]string{0.2081: "0.208", 41.5: "41.5", 656.2: "656", 373454: "373,454", 1868149: "1,868,149"} {
		if got := amount(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}
