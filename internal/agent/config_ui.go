// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

// UI configures the web UI that an agent serves.
type UI struct {
	Disabled bool
	ReadOnly bool // reports whether it hides what changes anything
}

type fileUI struct {
	Enabled  *bool `hcl:"enabled,optional"`
	ReadOnly *bool `hcl:"read_only,optional"`
}

func (u *UI) merge(f *fileUI) {
	if f == nil {
		return
	}
	if f.Enabled != nil {
		u.Disabled = !*f.Enabled
	}
	if f.ReadOnly != nil {
		u.ReadOnly = *f.ReadOnly
	}
}
