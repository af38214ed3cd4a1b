// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/network"
)

// Examine describes this machine as a node with the configuration would. It opens no data
// directory, so it works beside an agent that uses it.
func Examine(ctx context.Context, c Config) (*api.Node, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return nil, err
	}
	n := &Node{config: c, log: c.Logger}
	if c.Bridge != nil {
		wire := n.networkConfig()
		n.networks = &networks{problem: func() error { return network.Support(wire) }, cni: newCNINetworks(wire.CNI, n.log), log: n.log}
	}
	return n.describe(ctx), nil
}
