// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseUlimits(t *testing.T) {
	got, err := ParseUlimits(map[string]any{"nofile": "1024:4096", "core": 0, "stack": "8192:unlimited", "memlock": -1})
	want := []Ulimit{{"core", 0, 0}, {"memlock", math.MaxUint64, math.MaxUint64}, {"nofile", 1024, 4096}, {"stack", 8192, math.MaxUint64}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if block, err := ParseUlimits([]any{map[string]any{"nproc": "7"}}); err != nil || len(block) != 1 {
		t.Errorf("a block: %v, %v", block, err)
	}
	for complaint, v := range map[string]any{
		"has no limit \"files\"": map[string]any{"files": "1"},
		"nofile must be":         map[string]any{"nofile": "9:3"},
		"core must be":           map[string]any{"core": "-2"},
		"must be a map":          "nofile",
	} {
		if _, err := ParseUlimits(v); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v: want an error with %q, got %v", v, complaint, err)
		}
	}
}
