// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// check checks the promises after a fault.
func (r *run) check(ctx context.Context, l *load, name string) (f findings) {
	if f.add(l.readAll(ctx, r.cluster)); !f.clean() {
		return f
	}
	for register, operations := range l.history.byRegister() {
		r.summary.Histories++
		switch linearize(operations) {
		case porcupine.Illegal:
			f.violate("the history of the register %s is not linearizable (%d operations)", register, len(operations))
		case porcupine.Unknown:
			r.summary.Undecided++
		}
	}
	r.acked = append(r.acked, l.kept()...)
	r.checkJobs(ctx, &f)
	r.checkEvents(ctx, &f, l.history.indexesOf("job"))
	// Under load there may be another election: one lost answer is no violation.
	if err := r.cluster.retry(ctx, func(ctx context.Context) error { return registerChurn(ctx, r.cluster.all[0], name) }); err != nil {
		f.add(fmt.Errorf("register the job %s after the fault: %w", churnJob, err))
		return f
	}
	checkTasks(ctx, &f, r.cluster, r.steady)
	return f
}

// checkJobs compares the acknowledged registrations with the job list and the allocations of each
// server, and with the event streams.
func (r *run) checkJobs(ctx context.Context, f *findings) {
	for i, m := range r.cluster.all {
		jobs, err := eventually(ctx, r.cluster, func(ctx context.Context) ([]*api.JobListStub, error) {
			list, _, err := m.Client.Jobs().List(ctx, nil)
			return list, err
		})
		if err != nil {
			f.add(fmt.Errorf("list the jobs through server %d after the fault: %w", i, err))
			return
		}
		listed := map[string]bool{}
		for _, j := range jobs {
			listed[j.ID] = true
		}
		var lost []string
		for _, id := range r.acked {
			if !listed[id] {
				lost = append(lost, id)
			}
		}
		if len(lost) > 0 {
			f.violate("server %d does not list %d acknowledged jobs: %v", i, len(lost), lost)
		}
		f.add(await(ctx, m, pollInterval, func(context.Context) error {
			if missing := r.mirrors[i].missing(keys(listed)); len(missing) > 0 {
				return fmt.Errorf("the event stream of server %d does not show the jobs %v", i, missing)
			}
			return nil
		}))
		if extra := r.mirrors[i].extra(listed); len(extra) > 0 {
			f.violate("the event stream of server %d shows jobs that do not exist: %v", i, extra)
		}
		f.violations = append(f.violations, r.mirrors[i].takeViolations()...)
		f.add(r.awaitAgreement(ctx, i, jobs))
		list, err := eventually(ctx, r.cluster, func(ctx context.Context) ([]*api.AllocationListStub, error) {
			list, _, err := m.Client.Allocations().List(ctx, nil)
			return list, err
		})
		if err != nil {
			f.add(fmt.Errorf("list the allocations through server %d after the fault: %w", i, err))
			return
		}
		checkIndexes(f, list)
	}
}

// awaitAgreement returns when a server's own data have the jobs at their indexes.
func (r *run) awaitAgreement(ctx context.Context, server int, jobs []*api.JobListStub) error {
	m := r.cluster.all[server]
	return r.cluster.retry(ctx, func(ctx context.Context) error {
		own, _, err := m.Client.Jobs().List(ctx, &client.QueryOptions{Stale: true})
		if err != nil {
			return fmt.Errorf("list the jobs of server %d itself after the fault: %w", server, err)
		}
		indexes := map[string]uint64{}
		for _, j := range own {
			indexes[j.ID] = j.JobModifyIndex
		}
		for _, j := range jobs {
			if got, ok := indexes[j.ID]; !ok || got < j.JobModifyIndex {
				return contradict("server %d itself has the job %s at index %d, and answered with index %d before", server, j.ID, got, j.JobModifyIndex)
			}
		}
		return nil
	})
}

func keys(set map[string]bool) []string {
	var all []string
	for key := range set {
		all = append(all, key)
	}
	return all
}

// checkEvents checks that each event stream has shown the writes with the indexes.
func (r *run) checkEvents(ctx context.Context, f *findings, indexes []uint64) {
	for i, view := range r.mirrors {
		f.add(r.cluster.retry(ctx, func(context.Context) error {
			omitted, pending := view.unseen(indexes)
			switch {
			case len(omitted) > 0:
				return contradict("the event stream of server %d omitted the acknowledged writes with the indexes %v", i, omitted)
			case len(pending) > 0:
				return fmt.Errorf("the event stream of server %d has not reached the acknowledged writes with the indexes %v", i, pending)
			}
			return nil
		}))
		view.forget()
	}
}
