// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/quota"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// ExplainJob returns the nodes that can take another instance of each of the job's groups, the
// obstacles on the other nodes, and the changes that would unblock waiting instances.
func (s *Server) ExplainJob(ctx context.Context, ns, id string) (*api.JobExplanation, error) {
	x, err := s.explainer(ctx, ns, id)
	if err != nil {
		return nil, err
	}
	job := x.job
	e := &api.JobExplanation{Namespace: job.Namespace, JobID: job.ID, Version: job.Version, Status: job.Status}
	blocked := blockedEvaluation(x.snap, job)
	if blocked != nil {
		e.BlockedEval = blocked.ID
	}
	budget := quota.New(x.snap, job.Namespace)
	for _, group := range job.Groups {
		g := placement.Explain(x.view, x.order, job, group)
		g.Placed = x.placed(group)
		if blocked != nil {
			g.Waiting = blocked.QueuedAllocations[group.Name]
		}
		e.Groups = append(e.Groups, g)
		for _, o := range budget.Obstacles(group.QuotaUse(), job.NodePool) {
			g.Quota = append(g.Quota, o.Text())
			if g.Waiting > 0 {
				e.Unblock = append(e.Unblock, unblockQuota(g.Group, o))
			}
		}
		if g.Waiting > 0 && (len(g.Quota) == 0 || g.Fitting == 0) {
			e.Unblock = append(e.Unblock, unblock(g)...)
		}
	}
	if blocked != nil && !blocked.WaitUntil.IsZero() {
		e.Unblock = append(e.Unblock, "it is tried again at "+blocked.WaitUntil.UTC().Format("15:04:05 UTC")+" in any case")
	}
	return e, nil
}

// ExplainNode reports whether one node can take another instance of each of the job's groups,
// with all obstacles.
func (s *Server) ExplainNode(ctx context.Context, nodeID, ns, id string) ([]*api.NodeExplanation, error) {
	x, err := s.explainer(ctx, ns, id)
	if err != nil {
		return nil, err
	}
	all := make([]*api.NodeExplanation, 0, len(x.job.Groups))
	for _, group := range x.job.Groups {
		e := placement.ExplainNode(x.view, x.order, x.job, group, nodeID)
		if e == nil {
			return nil, api.Errorf(api.CodeNotFound, "node %q not found", nodeID)
		}
		all = append(all, e)
	}
	return all, nil
}

// explainer is what explaining looks at.
type explainer struct {
	snap  *state.Snapshot
	view  *placement.View
	job   *api.Job
	order *placement.Order
}

func (s *Server) explainer(ctx context.Context, ns, id string) (*explainer, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	view, err := s.view(ctx, snap)
	if err != nil {
		return nil, err
	}
	order := &placement.Order{Policy: worker.Policy(snap, job), Claims: worker.Claims(snap, job)}
	for a := range snap.AllocationsByJob(job.Namespace, job.ID) {
		if !a.IsTerminal() {
			order.Kept = append(order.Kept, a)
		}
	}
	return &explainer{snap: snap, view: view, job: job, order: order}, nil
}

// placed counts the group's allocations that run or are to.
func (x *explainer) placed(group *api.Group) (n int) {
	for _, a := range x.order.Kept {
		if a.Group == group.Name {
			n++
		}
	}
	return n
}

func blockedEvaluation(snap *state.Snapshot, job *api.Job) *api.Evaluation {
	for e := range snap.EvaluationsByJob(job.Namespace, job.ID) {
		if e.Status == api.EvalStatusBlocked {
			return e
		}
	}
	return nil
}

// unblock says what would let the group's next instance be placed: the
// obstacles of the nodes that are nearest to it.
func unblock(g *api.GroupExplanation) (words []string) {
	if g.Nodes == 0 {
		return []string{fmt.Sprintf("group %q: a node is added; the cluster has none", g.Group)}
	}
	if g.Fitting > 0 {
		return []string{fmt.Sprintf("group %q: nothing more, %d nodes fit by now", g.Group, g.Fitting)}
	}
	for _, n := range g.Nearest {
		text := fmt.Sprintf("group %q, node %s: ", g.Group, n.NodeName)
		for i, o := range n.Obstacles {
			if i > 0 {
				text += ", and "
			}
			text += remedy(n, o)
		}
		if !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return words
}

// unblockQuota says what would make a quota permit the group's next instance.
func unblockQuota(group string, o api.QuotaObstacle) string {
	if o.Limit < 0 {
		return fmt.Sprintf("group %q: quota %q allows %s; see: reeve quota status %s", group, o.Quota, o.Dimension, o.Quota)
	}
	return fmt.Sprintf("group %q: %d%s more of %s in quota %q, by a higher limit or fewer instances; see: reeve quota status %s",
		group, o.Used+o.Asked-o.Limit, o.Unit(), o.Dimension, o.Quota, o.Quota)
}

// remedy says what would take one obstacle away.
func remedy(n *api.NodeExplanation, o api.Obstacle) string {
	switch o.Filter {
	case api.FilterResource:
		if o.Dimension == "" || o.Needed == 0 {
			return o.Reason
		}
		return fmt.Sprintf("%d%s more of %s", o.Needed-o.Free, api.DimensionUnit(o.Dimension), o.Dimension)
	case api.FilterStatus:
		return fmt.Sprintf("it becomes ready and eligible (%s)", o.Reason)
	case api.FilterPort:
		return fmt.Sprintf("a port becomes free (%s)", o.Reason)
	case api.FilterDistinct:
		return fmt.Sprintf("the job's instances there move (%s)", o.Reason)
	case api.FilterVolume:
		return fmt.Sprintf("it has the volume (%s); see: reeve volume status", o.Reason)
	case api.FilterStarting:
		return "its starting instances have started"
	case api.FilterConstraint:
		return fmt.Sprintf("it meets %q", o.Reason)
	case api.FilterNetwork:
		return fmt.Sprintf("it has networks for allocations (%s)", o.Reason)
	case api.FilterDriver:
		return fmt.Sprintf("its driver works (%s)", o.Reason)
	}
	return fmt.Sprintf("it is of another %s (%s)", o.Filter, o.Reason)
}
