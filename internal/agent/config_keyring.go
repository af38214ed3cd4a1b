// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/kms"
)

// A fileKeyring names a key management service that seals the keys of this server.
type fileKeyring struct {
	Kind     string         `hcl:"kind,label"`
	Active   *bool          `hcl:"active,optional"`
	Settings hcl.Attributes `hcl:",remain"`
}

// mergeKeyring reads the blocks keyring of a file.
func (c *Config) mergeKeyring(path string, blocks []fileKeyring) error {
	for _, f := range blocks {
		k := kms.Config{Kind: f.Kind, Inactive: f.Active != nil && !*f.Active, Settings: map[string]string{}}
		for name, attribute := range f.Settings {
			value, diags := attribute.Expr.Value(nil)
			text, err := convert.Convert(value, cty.String)
			if diags.HasErrors() || err != nil || text.IsNull() {
				return api.Errorf(api.CodeInvalid, "%s: keyring %q: %s: must be a text in quotes", attribute.Range, f.Kind, name)
			}
			k.Settings[name] = text.AsString()
		}
		c.Keyring = append(c.Keyring, k)
	}
	if problem := kms.Check(c.Keyring); problem != "" {
		return api.Errorf(api.CodeInvalid, "%s: %s", path, problem)
	}
	return nil
}

// unsealing calls f, which needs the keys of this server, and calls it again while the service that
// opens them does not answer.
func (a *Agent) unsealing(ctx context.Context, f func() error) error {
	for wait := joinAgain; ; wait = min(2*wait, joinAgainMost) {
		err := f()
		var failed *kms.Error
		if !errors.As(err, &failed) || !failed.IsTemporary() {
			return err
		}
		a.log.Warn("the agent cannot start yet", "error", failed, "next_attempt", wait)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
