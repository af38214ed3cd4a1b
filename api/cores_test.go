// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCoresReadAsTheyAreWritten(t *testing.T) {
	for text, ids := range map[string][]uint16{"": nil, "0": {0}, "0-1,3": {0, 1, 3}, "2-4,7-8": {2, 3, 4, 7, 8}} {
		if got := FormatCores(ids); got != text {
			t.Errorf("%v is written %q, want %q", ids, got, text)
		}
		got, err := ParseCores(text)
		if diff := cmp.Diff(ids, got); err != nil || diff != "" {
			t.Errorf("%q reads as %v, %v (-want +got):\n%s", text, got, err, diff)
		}
	}
	if got, err := ParseCores(" 3 , 1-2,2 "); err != nil || FormatCores(got) != "1-3" {
		t.Errorf("untidy list reads as %v, %v", got, err)
	}
	for _, bad := range []string{"x", "2-1", "-1", "1,,2", "70000", "0-99999"} {
		if ids, err := ParseCores(bad); err == nil {
			t.Errorf("%q reads as %v", bad, ids)
		}
	}
}
