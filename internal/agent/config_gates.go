// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// fileRawExec configures the driver raw_exec.
type fileRawExec struct {
	Enabled    *bool    `hcl:"enabled,optional"`
	Allowed    []string `hcl:"allowed_users,optional"`
	DeniedUIDs string   `hcl:"denied_host_uids,optional"`
	DeniedGIDs string   `hcl:"denied_host_gids,optional"`
}

// fileUsers configures the users of the driver exec.
type fileUsers struct {
	Allowed    []string `hcl:"allowed_users,optional"`
	DeniedUIDs string   `hcl:"denied_host_uids,optional"`
	DeniedGIDs string   `hcl:"denied_host_gids,optional"`
}

// mergeGates adds the rules about users of a file.
func (c *Client) mergeGates(k *fileClient) error {
	if f := k.RawExec; f != nil {
		if f.Enabled != nil {
			c.RawExec.Off = !*f.Enabled
		}
		users := fileUsers{f.Allowed, f.DeniedUIDs, f.DeniedGIDs}
		if err := users.merge(&c.RawExec.Users); err != nil {
			return fmt.Errorf("raw_exec: %w", err)
		}
	}
	if k.Exec != nil {
		if err := k.Exec.merge(&c.ExecUsers); err != nil {
			return fmt.Errorf("exec: %w", err)
		}
	}
	return nil
}

func (f *fileUsers) merge(u *api.DriverUsers) error {
	for _, name := range f.Allowed {
		if name == "" || strings.ContainsAny(name, ", ") {
			return fmt.Errorf("allowed_users: %q is no user: write one name or number per entry", name)
		}
	}
	if f.Allowed != nil {
		u.Allowed = f.Allowed
	}
	for _, s := range []struct {
		name, text string
		into       *api.IDRanges
	}{
		{"denied_host_uids", f.DeniedUIDs, &u.DeniedUIDs}, {"denied_host_gids", f.DeniedGIDs, &u.DeniedGIDs},
	} {
		if s.text == "" {
			continue
		}
		ranges, err := api.ParseIDRanges(s.text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		*s.into = ranges
	}
	return nil
}
