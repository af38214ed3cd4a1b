// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// ClusterStatus is the object of "status".
type ClusterStatus struct {
	Address   string
	Leader    string
	Problem   string `json:",omitempty"` // problem of the contacted server
	Servers   []string
	Members   []*api.ServerStatus     `json:",omitempty"` // servers in the leader's view
	Snapshots []*api.SnapshotSchedule `json:",omitempty"` // of each server
	// Attention lists what waits for a person.
	Attention []*api.Attention `json:",omitempty"`
	Nodes     []*api.NodeListStub
	// NodesHidden reports whether the caller's token lacks node:read.
	NodesHidden bool `json:",omitempty"`
	Jobs        []*api.JobListStub
}

// Cluster writes the state of the cluster.
func Cluster(p *term.Page, s *ClusterStatus) {
	ready := 0
	for _, n := range s.Nodes {
		if n.Status == api.NodeStatusReady {
			ready++
		}
	}
	leader := s.Leader
	if leader == "" {
		leader = p.Style.Red("none: the cluster accepts no changes without a leader")
	}
	nodes := fmt.Sprintf("%d of %d ready", ready, len(s.Nodes))
	if s.NodesHidden {
		nodes = "hidden: your token lacks node:read"
	}
	fields := []term.Field{
		{"Address", s.Address},
		{"Leader", leader},
		{"Servers", serversInWords(s)},
		{"Nodes", nodes},
	}
	fields = append(fields, term.Field{"Snapshot", newestSnapshot(s, p.Now)})
	if s.Problem != "" {
		fields = append(fields, term.Field{"Problem", p.Style.Red(s.Problem)})
	}
	p.Fields(fields...)
	attention(p, s.Attention)
	if len(s.Members) > 1 {
		p.Section("Servers")
		Servers(p, s.Members, p.Now)
	}
	if len(s.Nodes) > 0 {
		p.Section("Nodes")
		Nodes(p, s.Nodes, false)
	}
	p.Section("Jobs")
	if len(s.Jobs) == 0 {
		p.Line("None")
		p.Next("Write an example:  reeve job init", "Register it:       reeve job run example.hcl")
		return
	}
	Jobs(p, s.Jobs, false)
	var next []string
	for _, j := range s.Jobs {
		if wrong := ailingInWords(j.JobSummary); wrong != "" {
			next = append(next, fmt.Sprintf("Problems of %s:  reeve job status %s", j.ID, JobArgs(j.Namespace, j.ID)))
		}
	}
	const most = 5
	p.Next(next[:min(len(next), most)]...)
}
