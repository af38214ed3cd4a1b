// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/secrets"
)

// ReadVariable returns a variable that the bearer of a token may read.
type ReadVariable func(ctx context.Context, token, namespace, path string) (*api.Variable, error)

// secretSources reads the values of tasks' secrets.
type secretSources struct {
	read    ReadVariable
	plugins *secrets.Plugins
}

func newSecretSources(c Config) *secretSources {
	return &secretSources{c.ReadVariable, secrets.New(filepath.Join(cmp.Or(c.PluginDir, filepath.Join(c.DataDir, "common_plugins")), "secrets"))}
}

// Variable implements runner.Secrets.
func (s *secretSources) Variable(ctx context.Context, token, namespace, path string) (map[string]string, error) {
	if s.read == nil {
		return nil, api.Errorf(api.CodeInvalid, "this node cannot read variables")
	}
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	v, err := s.read(ctx, token, namespace, path)
	if err != nil {
		return nil, err
	}
	return v.Items, nil
}

// Plugin implements runner.Secrets.
func (s *secretSources) Plugin(ctx context.Context, r secrets.Request) (map[string]string, error) {
	return s.plugins.Fetch(ctx, r)
}
