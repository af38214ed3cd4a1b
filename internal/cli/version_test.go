// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfABinary(t *testing.T) {
	module := func(version string) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Main: debug.Module{Version: version}}, true
		}
	}
	for _, tc := range []struct {
		name, linked string
		read         func() (*debug.BuildInfo, bool)
		want         string
	}{
		{"the linker's version counts", "1.2.3", module("v1.2.2"), "1.2.3"},
		{"go install of a release", "", module("v1.2.3"), "1.2.3"},
		{"go install of a commit", "", module("v0.0.0-20261122231722-909afe78e0da"), "0.0.0-20261122231722-909afe78e0da"},
		{"go build without history", "", module("(devel)"), unreleased},
		{"no build information", "", func() (*debug.BuildInfo, bool) { return nil, false }, unreleased},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := versionOf(tc.linked, tc.read); got != tc.want {
				t.Errorf("version %q, want %q", got, tc.want)
			}
		})
	}
}
