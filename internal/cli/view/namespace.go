// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// NamespaceStatus is a namespace with the objects in it.
type NamespaceStatus struct {
	Namespace *api.Namespace
	Children  []*api.Namespace
	Jobs      []*api.JobListStub
}

// Namespaces writes a list of namespaces.
func Namespaces(p *term.Page, list []*api.Namespace) {
	var rows [][]string
	for _, n := range list {
		var meta []string
		for _, key := range slices.Sorted(maps.Keys(n.Meta)) {
			meta = append(meta, key+"="+n.Meta[key])
		}
		rows = append(rows, []string{n.Name, human.Dash(n.Description), human.Dash(strings.Join(meta, ","))})
	}
	p.Table([]string{"Name", "Description", "Meta"}, rows)
}

// Namespace writes one namespace.
func Namespace(p *term.Page, s *NamespaceStatus) {
	n := s.Namespace
	fields := []term.Field{{"Name", n.Name}, {"Description", n.Description}, {"Parent", api.ParentNamespace(n.Name)}, {"Quota", n.Quota}}
	if pools := n.NodePoolConfiguration; pools != nil {
		fields = append(fields,
			term.Field{"Default node pool", n.DefaultPool()},
			term.Field{"Allowed node pools", strings.Join(pools.Allowed, ", ")},
			term.Field{"Denied node pools", strings.Join(pools.Denied, ", ")})
	}
	if n.Priorities != nil {
		lo, hi := n.Priorities.Range()
		fields = append(fields, term.Field{"Priorities", fmt.Sprintf("%d to %d", lo, hi)})
	}
	if may := n.Capabilities; may != nil {
		fields = append(fields,
			term.Field{"Enabled drivers", strings.Join(may.EnabledTaskDrivers, ", ")},
			term.Field{"Disabled drivers", strings.Join(may.DisabledTaskDrivers, ", ")},
			term.Field{"Enabled network modes", strings.Join(may.EnabledNetworkModes, ", ")},
			term.Field{"Disabled network modes", strings.Join(may.DisabledNetworkModes, ", ")})
	}
	for _, key := range slices.Sorted(maps.Keys(n.Meta)) {
		fields = append(fields, term.Field{"Meta " + key, n.Meta[key]})
	}
	var children []string
	for _, child := range s.Children {
		children = append(children, child.Name)
	}
	byStatus := map[string]int{}
	for _, j := range s.Jobs {
		byStatus[j.Status]++
	}
	var jobs []string
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		jobs = append(jobs, fmt.Sprintf("%d %s", byStatus[status], status))
	}
	p.Fields(append(fields,
		term.Field{"Children", strings.Join(children, ", ")},
		term.Field{"Jobs", orWord(strings.Join(jobs, ", "), "none")},
		term.Field{"Modify index", strconv.FormatUint(n.ModifyIndex, 10)})...)
	var next []string
	if len(s.Jobs) > 0 {
		next = append(next, "List its jobs:  reeve job status -namespace "+n.Name)
	}
	if n.Quota != "" {
		next = append(next, "Show its quota:  reeve quota status "+n.Quota)
	}
	p.Next(next...)
}
