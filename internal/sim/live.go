// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// Live registers simulated nodes with the server at an address, and keeps them alive until ctx
// ends. They run the jobs that the server places on them, as the config of the mock driver says.
// It calls ready when all nodes are registered. A group's nodes have the drivers that it names,
// besides mock.
func Live(ctx context.Context, address, token string, groups []NodeGroup, ready func()) error {
	r := &run{
		scenario: &Scenario{Seed: 1, Nodes: groups}, options: Options{Address: address, token: token},
		jobs: map[string]*job{}, position: map[string]int{}, lost: map[string]bool{}, report: &Report{},
		decoded: decodedJobs{seed: maphash.MakeSeed()},
	}
	for _, g := range groups {
		if g.Count < 0 || g.Name == "" || g.CPU <= 0 || g.Memory <= 0 {
			return api.Errorf(api.CodeInvalid, "simulated nodes %q: set a name, and a count, CPU and memory above 0", g.Name)
		}
	}
	defer r.closeClients()
	if err := r.dial(ctx); err != nil {
		return err
	}
	if len(r.nodes) == 0 {
		ready()
		return nil
	}
	if err := r.registerNodes(ctx, func(*node) {}); err != nil {
		return err
	}
	var living sync.WaitGroup
	for _, n := range r.nodes {
		living.Go(func() { n.loop(ctx) })
	}
	ready()
	living.Wait()
	return nil
}
