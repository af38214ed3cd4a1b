// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// NodePools writes a list of node pools.
func NodePools(p *term.Page, pools []*api.NodePool) {
	var rows [][]string
	for _, n := range pools {
		rows = append(rows, []string{n.Name, human.Dash(poolAlgorithm(n)), human.Dash(n.Description)})
	}
	p.Table([]string{"Name", "Algorithm", "Description"}, rows)
}

// NodePool writes one node pool.
func NodePool(p *term.Page, n *api.NodePool) {
	oversubscription := ""
	if s := n.SchedulerConfig; s != nil && s.MemoryOversubscriptionEnabled != nil {
		oversubscription = onOff(*s.MemoryOversubscriptionEnabled)
	}
	fields := []term.Field{
		{"Name", n.Name}, {"Description", n.Description},
		{"Algorithm", orWord(poolAlgorithm(n), "the cluster's")},
		{"Memory oversubscription", orWord(oversubscription, "the cluster's")},
	}
	for _, key := range slices.Sorted(maps.Keys(n.Meta)) {
		fields = append(fields, term.Field{"Meta " + key, n.Meta[key]})
	}
	p.Fields(append(fields, term.Field{"Modify index", strconv.FormatUint(n.ModifyIndex, 10)})...)
}

// poolAlgorithm returns the pool's own scheduling algorithm, or "".
func poolAlgorithm(n *api.NodePool) string {
	if n.SchedulerConfig == nil {
		return ""
	}
	return n.SchedulerConfig.Algorithm
}
