// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"regexp"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestIDsAreUUIDsAndDiffer draws more identifiers than were expected.
func TestIDsAreUUIDsAndDiffer(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	ids := api.IDs{Expected: 70}
	seen := map[string]bool{api.NewID(): true}
	for range 100 {
		id := ids.Next()
		if !form.MatchString(id) {
			t.Fatalf("%q is no UUID of version 4", id)
		}
		if seen[id] {
			t.Fatalf("%q was drawn twice", id)
		}
		seen[id] = true
	}
}
