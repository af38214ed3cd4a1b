// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
)

func TestLastLines(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc", 2, "b\nc"},
		{"a\nb\n", 5, "a\nb\n"},
		{"a\n\n\n", 2, "\n\n"},
		{"", 3, ""},
	} {
		if got := string(lastLines([]byte(test.text), test.n)); got != test.want {
			t.Errorf("last %d lines of %q = %q, want %q", test.n, test.text, got, test.want)
		}
	}
}
