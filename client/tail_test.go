// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"slices"
	"testing"
)

func TestTailTakesTheLastWholeLines(t *testing.T) {
	for _, test := range []struct {
		text string
		cut  bool
		n    int
		want []string
	}{
		{"", false, 10, nil},
		{"a\nb\nc", false, 2, []string{"b", "c"}},
		{"a\nb\n", false, 10, []string{"a", "b"}},
		{"half\nwhole\n", true, 10, []string{"whole"}},
		{"one long line", true, 10, []string{"one long line"}},
		{"a\n\n \t\n\x1b[0m\nb\n", false, 2, []string{"a", "b"}},
		{"a\nb\n", false, 0, nil},
		{"a\nb\n", false, -1, nil},
	} {
		if got := lastLines(test.text, test.cut, test.n); !slices.Equal(got, test.want) {
			t.Errorf("last %d of %q: got %q, want %q", test.n, test.text, got, test.want)
		}
	}
}
