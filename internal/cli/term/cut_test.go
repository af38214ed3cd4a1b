// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"testing"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"├─ hello", 4, "├─ …"},
		{"\x1b[32mgreen\x1b[0m and more", 8, "\x1b[32mgreen\x1b[0m a…"},
		{"\x1b[32mgreen\x1b[0m", 3, "\x1b[32mgr…\x1b[0m"},
	} {
		if got := Cut(test.line, test.width); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestColoursTakeNoRoom(t *testing.T) {
	s := Style{On: true}
	if got := VisibleWidth(s.Green("grün") + s.Bold("!")); got != 5 {
		t.Errorf("visible width = %d, want 5", got)
	}
}
