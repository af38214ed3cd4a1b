// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/state"
)

// UpdateAllocations stores what a node says of its allocations, and makes an
// evaluation for every job that has to react. It returns when that is durable.
func (s *Server) UpdateAllocations(ctx context.Context, nodeID string, allocs []*api.Allocation) (uint64, error) {
	return s.takeReport(ctx, report{nodeID: nodeID, allocs: allocs})
}

// ReportAllocations is UpdateAllocations for what nodeproto.EncodeReport wrote.
func (s *Server) ReportAllocations(ctx context.Context, nodeID string, body []byte) (uint64, error) {
	allocs, err := nodeproto.DecodeReport(body)
	if err != nil {
		return 0, api.Errorf(api.CodeInvalid, "the request's body is no %s: %v", nodeproto.Media, err)
	}
	return s.takeReport(ctx, report{nodeID: nodeID, allocs: allocs, decoded: true})
}

func (s *Server) takeReport(ctx context.Context, rep report) (uint64, error) {
	if _, err := registered(s.store.Snapshot(), rep.nodeID); err != nil {
		return 0, err
	}
	if err := rep.validate(); err != nil {
		return 0, err
	}
	if len(rep.allocs) == 0 {
		return s.store.Index(), nil
	}
	return s.reports.add(ctx, rep)
}

// A report is one node's statement about allocations.
type report struct {
	nodeID  string
	allocs  []*api.Allocation
	decoded bool // reports whether allocs come from nodeproto.DecodeReport
}

// validate checks a report, whatever its encoding. This is the only check: what
// follows relies on it.
func (r *report) validate() error {
	for i, a := range r.allocs {
		if a == nil || a.ID == "" {
			return api.Errorf(api.CodeInvalid, "Alloc[%d] has no ID", i)
		}
		switch a.ClientStatus {
		case api.AllocClientPending, api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed,
			api.AllocClientLost, api.AllocClientUnknown:
		default:
			return api.Errorf(api.CodeInvalid, "Alloc[%d].ClientStatus is %q; it must be pending, running, complete, failed, lost or unknown",
				i, a.ClientStatus)
		}
	}
	return nil
}

// writeReports writes what nodes say as one log entry, with one evaluation of
// every job that has to react: a thousand instances of a job that fail together
// on a thousand nodes make one, not a thousand.
func (s *Server) writeReports(ctx context.Context, calls []*gathered[report]) {
	snap, now := s.store.Snapshot(), time.Now()
	evaluated := map[api.NamespacedID]bool{}
	cmds := make([]state.Command, len(calls))
	for i, call := range calls {
		rep := call.what
		cmds[i] = &state.UpdateAllocations{
			NodeID: rep.nodeID, Allocations: rep.allocs,
			Evaluations: reactions(snap, rep.allocs, evaluated, now), Time: now.UnixNano(), Decoded: rep.decoded,
		}
	}
	index, errs, err := s.proposeEach(ctx, cmds...)
	if evals := overtaken(snap, s.store.Snapshot(), calls, evaluated, now); err == nil && len(evals) > 0 {
		_, err = s.propose(ctx, &state.PutEvaluations{Evaluations: evals})
	}
	answer(calls, index, errs, err)
}

// overtaken are evaluations of the jobs whose allocations the servers changed
// between the picture on which their nodes' words were judged and the entry that
// took these in: together they may call for what neither did alone.
func overtaken(judged, taken *state.Snapshot, calls []*gathered[report], evaluated map[api.NamespacedID]bool, now time.Time) (evals []*api.Evaluation) {
	for _, call := range calls {
		for _, rep := range call.what.allocs {
			a := taken.Allocation(rep.ID)
			if a == nil || a.AllocModifyIndex <= judged.Index() || a.IsClientTerminal() || evaluated[a.JobKey()] {
				continue
			}
			if job := taken.Job(a.Namespace, a.JobID); job != nil {
				evaluated[a.JobKey()] = true
				evals = append(evals, newEvaluation(job, api.TriggerNodeUpdate, now))
			}
		}
	}
	return evals
}

// reactions are evaluations of the jobs that have something to do now, one per
// job that is not in evaluated yet.
func reactions(snap *state.Snapshot, reported []*api.Allocation, evaluated map[api.NamespacedID]bool, now time.Time) (evals []*api.Evaluation) {
	var is api.Allocation // what it will be
	for _, rep := range reported {
		old := snap.Allocation(rep.ID)
		if old == nil || evaluated[old.JobKey()] {
			continue
		}
		job := snap.Job(old.Namespace, old.JobID)
		if job == nil || job.Stop && !job.Purge || old.Launches == nil && !job.Purge && isDone(job, rep) {
			continue
		}
		is = *old
		is.ClientStatus = rep.ClientStatus
		if rep.Serving != nil {
			is.Serving = rep.Serving
		}
		if s, o := rep.DeploymentStatus, old.DeploymentStatus; s != nil && s.Healthy != nil && (o == nil || !s.Timestamp.Before(o.Timestamp)) {
			is.DeploymentStatus = s
		}
		if rep.TaskStates != nil {
			is.TaskStates = rep.TaskStates
		}
		if rep.LaunchStatus != nil {
			is.LaunchStatus = rep.LaunchStatus
		}
		trigger, needed := plan.NeedsEvaluation(old, &is)
		if !needed || trigger == api.TriggerAllocReconnect && !isContested(snap, old) {
			continue
		}
		if r := snap.LatestRestart(old.Namespace, old.JobID); r != nil && r.IsActive() && trigger == api.TriggerPlanOperation {
			trigger = api.TriggerRestart
		}
		evaluated[old.JobKey()] = true
		evals = append(evals, newEvaluation(job, trigger, now))
	}
	return evals
}

// isDone reports whether an allocation only did what its job is for, and no
// other group can be waiting for that.
func isDone(job *api.Job, rep *api.Allocation) bool {
	return rep.ClientStatus == api.AllocClientComplete && job.RunsToCompletion() && len(job.Groups) == 1
}

// isContested reports whether the allocation's word decides between it and
// another that claims the same instance.
func isContested(snap *state.Snapshot, a *api.Allocation) bool {
	if a.ClientStatus == api.AllocClientUnknown {
		return true // it is back
	}
	if next := snap.Allocation(a.NextAllocation); next != nil && !next.IsTerminal() {
		return true
	}
	for original := range snap.Predecessors(a) {
		if !original.IsTerminal() {
			return true
		}
	}
	return false
}
