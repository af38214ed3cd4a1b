// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// clusterStatus is what "status" shows.
type clusterStatus struct {
	Address string
	Leader  string
	Problem string `json:",omitempty"` // of the server that answers
	Servers []string
	Nodes   []*api.NodeListStub
	Jobs    []*api.JobListStub
}

func statusCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "status [ID]",
		Short: "Show the cluster: servers, nodes and jobs; or whatever an id names",
		Long: `Without an argument, shows who leads, how the nodes are and what runs. With the
beginning of any id, or of a job's name, shows that object, like "job status",
"alloc status", "node status", "eval status" and "deployment status" do.`,
		Args: atMost(1, "ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.statusOf(cmd.Context(), args[0], f)
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			s, err := c.readClusterStatus(cmd.Context(), cl)
			if err != nil {
				return err
			}
			return c.show(f, s, func(p *page) { p.clusterStatus(s) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

func (c *cli) readClusterStatus(ctx context.Context, cl *client.Client) (*clusterStatus, error) {
	s := &clusterStatus{Address: c.address()}
	var err error
	if s.Leader, err = cl.Status().Leader(ctx); err != nil {
		return nil, err
	}
	if health, err := cl.Status().Health(ctx); err == nil && health.Server != nil && health.Server.Message != "ok" {
		s.Problem = health.Server.Message
	}
	if s.Servers, err = cl.Status().Peers(ctx); err != nil {
		return nil, err
	}
	if s.Nodes, err = listAll(ctx, client.QueryOptions{}, cl.Nodes().List); err != nil {
		return nil, err
	}
	s.Jobs, err = listAll(ctx, client.QueryOptions{}, cl.Jobs().List)
	return s, err
}

// clusterStatus writes the state of the whole.
func (p *page) clusterStatus(s *clusterStatus) {
	ready := 0
	for _, n := range s.Nodes {
		if n.Status == api.NodeStatusReady {
			ready++
		}
	}
	leader := s.Leader
	if leader == "" {
		leader = p.style.red("none: nothing can be changed until there is one")
	}
	fields := []field{
		{"Address", s.Address},
		{"Leader", leader},
		{"Servers", strings.Join(s.Servers, ", ")},
		{"Nodes", fmt.Sprintf("%d of %d ready", ready, len(s.Nodes))},
	}
	if s.Problem != "" {
		fields = append(fields, field{"Problem", p.style.red(s.Problem)})
	}
	p.fields(fields...)
	if len(s.Nodes) > 0 {
		p.section("Nodes")
		p.nodes(s.Nodes, false)
	}
	p.section("Jobs")
	if len(s.Jobs) == 0 {
		p.line("None")
		p.next("Write an example:  reeve job init", "Register it:       reeve job run example.hcl")
		return
	}
	p.jobs(s.Jobs, false)
	var next []string
	for _, j := range s.Jobs {
		if wrong := ailingInWords(j.JobSummary); wrong != "" {
			next = append(next, fmt.Sprintf("What is wrong with %s:  reeve job status %s", j.ID, j.ID))
		}
	}
	const most = 5
	p.next(next[:min(len(next), most)]...)
}
