// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// simulatedBy is the operator in the name of whom the run stops stacks.
const simulatedBy = "reeve sim"

// A stackPlay deploys, stops and sweeps the stacks of a scenario.
type stackPlay struct {
	run   *run
	stack *Stacks
	rng   *rand.Rand

	mu      sync.Mutex
	model   *stackModel
	sent    map[string]time.Time // of deployments that are not ready, by unit and version
	changed chan struct{}        // closed at the next change of the model

	minors   []uint32 // next minor version, by unit
	report   *StacksReport
	accepted []time.Duration
	ready    []time.Duration
}

// playStacks plays the stacks of the scenario to their end.
func (r *run) playStacks(ctx context.Context) error {
	if r.scenario.Stacks == nil {
		return nil
	}
	s := &stackPlay{
		run: r, stack: r.scenario.Stacks, rng: r.rng(1 << 20), model: newStackModel(), sent: make(map[string]time.Time),
		changed: make(chan struct{}), minors: make([]uint32, r.scenario.Stacks.Units),
		report: &StacksReport{Units: r.scenario.Stacks.Units, Verdicts: make(map[string]int)},
	}
	r.report.Stacks = s.report
	following, stop := context.WithCancel(ctx)
	defer stop()
	begun, followed := make(chan struct{}), make(chan error, 1)
	go func() { followed <- s.follow(following, begun) }()
	select {
	case <-begun:
	case err := <-followed:
		return err
	}
	err := s.play(ctx)
	stop()
	err = errors.Join(err, <-followed)
	s.summarize()
	if ctx.Err() != nil {
		return nil // the limit of the run
	}
	return err
}

// play deploys the first version of every unit, and then deploys, stops and sweeps at intervals.
func (s *stackPlay) play(ctx context.Context) error {
	if err := s.createNamespaces(ctx); err != nil {
		return err
	}
	for first := 0; first < s.stack.Units; first += firstBatch {
		last := min(first+firstBatch, s.stack.Units)
		if err := s.deployFirst(ctx, first, last); err != nil {
			return err
		}
	}
	s.run.tell("%d units are deployed after %s", s.stack.Units, short(time.Since(s.run.began)))
	began := time.Now()
	for step := 1; ; step++ {
		elapsed := time.Duration(step) * s.stack.Every
		if elapsed > s.stack.For || !until(ctx, began.Add(elapsed)) {
			return ctx.Err()
		}
		act := s.deployNext
		if s.rng.Float64() < s.stack.Leave {
			act = s.stopOne
		}
		if err := act(ctx); err != nil {
			return err
		}
		if elapsed/s.stack.Sweep > (elapsed-s.stack.Every)/s.stack.Sweep {
			if err := s.sweep(ctx); err != nil {
				return err
			}
		}
	}
}

// createNamespaces creates the scenario's namespaces, and those around them.
func (s *stackPlay) createNamespaces(ctx context.Context) error {
	for _, name := range s.stack.Namespaces {
		for i, c := range name + "/" {
			if c != '/' || name[:i] == api.DefaultNamespace {
				continue
			}
			if _, err := s.run.client.Namespaces().Put(ctx, &api.Namespace{Name: name[:i]}); err != nil {
				return fmt.Errorf("create namespace %s: %w", name[:i], err)
			}
		}
	}
	return nil
}

// firstBatch is the number of units whose first versions are deployed with one request.
const firstBatch = 50

// deployFirst deploys the first version of some units, and waits until they are ready.
func (s *stackPlay) deployFirst(ctx context.Context, first, last int) error {
	var jobs []*api.Job
	for unit := first; unit < last; unit++ {
		jobs = append(jobs, s.next(s.stack.Namespaces[0], unit))
	}
	if err := s.deploy(ctx, jobs...); err != nil {
		return err
	}
	return s.until(ctx, func() bool {
		for unit := first; unit < last; unit++ {
			if s.model.newest(unitKey{s.stack.Namespaces[0], unitName(unit)}, func(s *api.Stack) bool { return s.Status == api.StackReady }) == nil {
				return false
			}
		}
		return true
	})
}

// until waits for a condition of the model.
func (s *stackPlay) until(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func unitName(unit int) string { return fmt.Sprintf("unit-%d", unit+1) }

// next returns the next version of a unit, for a namespace. It calls units of lower numbers, in versions that exist.
func (s *stackPlay) next(namespace string, unit int) *api.Job {
	v := api.StackVersion{Major: 1, Minor: s.minors[unit]}
	s.minors[unit]++
	job := s.stack.job.Copy()
	spec := *s.stack.job.Stack
	job.ID, job.Name, job.Namespace, job.Stack = unitName(unit), "", namespace, &spec
	spec.Version = v.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	var depends []dependency
	called := make(map[int]bool)
	for range min(s.rng.IntN(*s.stack.Depends+1), unit) {
		other := s.rng.IntN(unit)
		if called[other] {
			continue
		}
		called[other] = true
		d := dependency{unit: unitName(other), want: api.FeatureVersion{Major: 1}}
		if ready := s.model.newest(unitKey{s.model.nearest(namespace, d.unit, d.want.Major), d.unit}, func(s *api.Stack) bool { return s.Status == api.StackReady }); ready != nil {
			d.want.Minor = uint32(s.rng.IntN(int(ready.Version.Minor) + 1))
		}
		depends = append(depends, d)
		spec.Depends = append(spec.Depends, &api.StackDependency{Unit: d.unit, Version: d.want.String()})
	}
	s.model.deploys(job.ID, v, depends)
	s.sent[job.ID+"@"+spec.Version] = time.Now()
	return job
}

// deployNext deploys the next version of a random unit in a random namespace.
func (s *stackPlay) deployNext(ctx context.Context) error {
	namespace := s.stack.Namespaces[0]
	if n := len(s.stack.Namespaces); n > 1 {
		namespace = s.stack.Namespaces[s.rng.IntN(n)]
	}
	return s.deploy(ctx, s.next(namespace, s.rng.IntN(s.stack.Units)))
}

// deploy sends a deployment. The server may refuse it because a dependency is gone meanwhile.
func (s *stackPlay) deploy(ctx context.Context, jobs ...*api.Job) error {
	began := time.Now()
	_, err := s.run.client.Stacks().Deploy(ctx, &api.DeployStacksRequest{Jobs: jobs, By: simulatedBy})
	switch {
	case api.CodeOf(err) == api.CodeInvalid && len(jobs) == 1:
		s.report.Refused++
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sent, jobs[0].ID+"@"+jobs[0].Stack.Version)
		return nil
	case err != nil:
		return fmt.Errorf("deploy %s %s: %w", jobs[0].ID, jobs[0].Stack.Version, err)
	}
	s.report.Deployed += len(jobs)
	if len(jobs) == 1 {
		s.accepted = append(s.accepted, time.Since(began))
	}
	return nil
}

// stopOne stops a random stack that calls others: a caller leaves.
func (s *stackPlay) stopOne(ctx context.Context) error {
	s.mu.Lock()
	var name, namespace string
	callers := 0
	for _, stack := range s.model.stacks {
		if stack.Status == api.StackReady && len(s.model.depends[stack.Unit+"@"+stack.Version.String()]) > 0 {
			if callers++; s.rng.IntN(callers) == 0 {
				name, namespace = stack.Name, stack.Namespace
			}
		}
	}
	s.mu.Unlock()
	if name == "" {
		return nil
	}
	if _, err := s.run.client.WithNamespace(namespace).Stacks().Do(ctx, name, "stop", &api.StackVerbRequest{By: simulatedBy, Now: true}); err != nil {
		if code := api.CodeOf(err); code == api.CodeConflict || code == api.CodeNotFound {
			return nil // it ended meanwhile
		}
		return fmt.Errorf("stop %s: %w", name, err)
	}
	s.report.Stopped++
	return nil
}

// sweep sweeps the stacks, and counts the verdicts.
func (s *stackPlay) sweep(ctx context.Context) error {
	res, err := s.run.client.Stacks().Sweep(ctx, false)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	s.report.Sweeps++
	for _, d := range res.Decisions {
		kept := "declined "
		if d.Verdict.Kept {
			kept = "kept "
		}
		s.report.Verdicts[kept+string(d.Verdict.Reason)]++
	}
	return nil
}

// summarize fills the rest of the report.
func (s *stackPlay) summarize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.States = s.model.states()
	s.report.Marked, s.report.Violations = s.model.marked, s.model.errors
	s.report.Accepted, s.report.Ready = latency(s.accepted), latency(s.ready)
}
