// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRealVersionsAreAskedOnce(t *testing.T) {
	p := newPlugins(t)
	p.install("named", `echo "CNI named plugin v1.4.0" >&2; exit 1`)
	p.install("unnamed", `echo "CNI unnamed plugin version unknown" >&2`)
	p.install("silent", "")
	var v Versions
	for range 2 {
		for name, want := range map[string]string{"named": "v1.4.0", "unnamed": "", "silent": "", "absent": ""} {
			if got := v.Of(t.Context(), filepath.Join(p.dir, name)); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if calls := p.calls(); len(calls) != 3 {
		t.Errorf("calls %s", strings.Join(calls, "\n"))
	}
	p.install("named", `echo "CNI named plugin v1.10.0" >&2; exit 1`)
	if got := v.Of(t.Context(), filepath.Join(p.dir, "named")); got != "v1.10.0" {
		t.Errorf("after an upgrade: %q", got)
	}
}
