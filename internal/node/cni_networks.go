// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/cni"
	"github.com/reeve-run/reeve/internal/node/network"
)

// maxCNIProblem bounds what is published about a broken network.
const maxCNIProblem = 600

// cniNetworks describes the node's networks of plugins. The configurations are read again each time.
type cniNetworks struct {
	c       network.CNI
	problem func() error // why the machine cannot have any; nil if it can
	plugins *cni.Versions
	log     *slog.Logger

	mu     sync.Mutex
	logged map[string]string // problems by the names of networks and files
}

func newCNINetworks(c network.CNI, log *slog.Logger) *cniNetworks {
	return &cniNetworks{c: c, problem: sync.OnceValue(network.CanMakeNamespaces), plugins: new(cni.Versions), log: log, logged: map[string]string{}}
}

// describe publishes the networks that allocations can have, the reasons for the others, and the
// versions of the plugins.
func (n *cniNetworks) describe(ctx context.Context, attributes map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := cni.List(n.c.Dirs)
	seen := map[string]bool{}
	for _, f := range found {
		name, err := filepath.Base(f.File), f.Err
		if f.Network != nil {
			name = f.Network.Name
			if seen[name] {
				continue // the first one counts
			}
			seen[name] = true
			if err = f.Network.Missing(n.c.Paths); err == nil {
				err = n.problem()
			}
		}
		if err != nil {
			n.complain(name, api.Printable(err.Error(), maxCNIProblem), attributes)
			continue
		}
		delete(n.logged, name)
		attributes[api.NodeAttrCNI+name] = "1"
		for _, program := range f.Network.Programs() {
			if v := n.plugins.Of(ctx, cni.Locate(n.c.Paths, program)); v != "" {
				attributes[api.NodeAttrCNIPlugin+program] = v
			}
		}
	}
}

func (n *cniNetworks) complain(name, problem string, attributes map[string]string) {
	attributes[api.NodeAttrCNIProblem+api.Printable(name, 255)] = problem
	if n.logged[name] != problem {
		n.logged[name] = problem
		n.log.Warn("a CNI network cannot be used", "network", name, "error", problem)
	}
}
