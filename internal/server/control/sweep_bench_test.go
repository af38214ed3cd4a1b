// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// A lifecycleFleet is a store of many stacks without their jobs.
type lifecycleFleet struct {
	b     *testing.B
	store *state.Store
	now   time.Time
	made  int
}

// newLifecycleFleet stores 10,000 stacks in 2,000 units with 8,000 dependencies.
func newLifecycleFleet(b *testing.B) *lifecycleFleet {
	f := &lifecycleFleet{b: b, store: state.New(), now: t0}
	for unit := range 2000 {
		for minor := range 5 {
			f.apply(state.PutStack(f.stack(unit, minor)))
		}
	}
	return f
}

// stack returns a ready stack. Every stack but the first of a unit calls another unit.
func (f *lifecycleFleet) stack(unit, minor int) *api.Stack {
	v := api.StackVersion{Major: 1, Minor: uint32(minor)}
	name := fmt.Sprintf("unit-%d", unit)
	s := &api.Stack{
		Name: api.StackName(name, v, fmt.Sprintf("%08x", f.made)), ID: api.NewID(), Namespace: "default", Unit: name, Version: v,
		Spec: &api.StackSpec{Version: v.String()}, Shape: api.ShapeService, Status: api.StackReady, StatusReason: api.ReasonStackShift,
		StatusSince: f.now, DeployedAt: f.now.Add(time.Duration(f.made)), RunningAt: f.now, Expires: f.now.Add(api.DefaultInitialTTL),
	}
	f.made++
	if minor > 0 {
		s.Spec.Depends = []*api.StackDependency{{Unit: fmt.Sprintf("unit-%d", unit/2), Version: fmt.Sprintf("1.%d", minor%5)}}
	}
	return s
}

func (f *lifecycleFleet) apply(cmds ...state.Command) {
	f.b.Helper()
	for _, err := range f.store.Apply(f.store.Index()+1, cmds) {
		if err != nil {
			f.b.Fatal(err)
		}
	}
}

// sweep sweeps and stores the result. It returns the size of the log entry.
func (f *lifecycleFleet) sweep() int {
	f.b.Helper()
	cmd := control.Sweep(f.store.Snapshot(), control.SweepInterval, nil, f.now)
	entry := len(state.EncodeCommands([]state.Command{cmd}))
	f.apply(cmd)
	return entry
}

// BenchmarkSweepOfManyStacks measures a sweep that keeps every stack, and its log entry. Targets: 100 ms, 1 MB.
func BenchmarkSweepOfManyStacks(b *testing.B) {
	f := newLifecycleFleet(b)
	for s := range f.store.Snapshot().Stacks("*") {
		kept := s.Copy()
		spec := *s.Spec
		spec.Policy, kept.Spec = &api.RetentionPolicy{Name: api.RetainAlways}, &spec
		f.apply(state.PutStack(kept))
	}
	first, largest := f.sweep(), 0
	for b.Loop() {
		f.now = f.now.Add(control.SweepInterval)
		largest = max(largest, f.sweep())
	}
	b.ReportMetric(float64(first), "B/first-entry")
	b.ReportMetric(float64(largest), "B/entry")
}

// BenchmarkDayOfSweeps measures the records of a day in which every unit is deployed once: the log entries of its
// sweeps, and the audit records and verdicts in a snapshot at its end. Target: 50 MB.
func BenchmarkDayOfSweeps(b *testing.B) {
	for b.Loop() {
		f := newLifecycleFleet(b)
		f.day(0)
		empty := f.snapshotSize()
		log := f.day(1)
		b.ReportMetric(float64(log), "B/log")
		b.ReportMetric(float64(f.snapshotSize()-empty), "B/stored")
		records := 0
		for range f.store.Snapshot().AllAudit("*") {
			records++
		}
		b.ReportMetric(float64(records), "records")
	}
}

// day deploys every unit once, with a sweep every ten minutes. It returns the size of the sweeps' log entries.
func (f *lifecycleFleet) day(day int) (log int) {
	const sweeps = int(24 * time.Hour / control.SweepInterval)
	for i := range sweeps {
		f.now = f.now.Add(control.SweepInterval)
		for unit := 2000 * i / sweeps; unit < 2000*(i+1)/sweeps; unit++ {
			f.deploy(unit, 5+day)
		}
		log += f.sweep()
		f.remove()
	}
	return log
}

// deploy stores a stack as the controllers do on its way to all traffic of its unit.
func (f *lifecycleFleet) deploy(unit, minor int) {
	s := f.stack(unit, minor)
	for _, status := range []string{api.StackPending, api.StackDeploying, api.StackWarming, api.StackReady} {
		s.Status, s.StatusReason = status, api.ReasonStackDeployed
		f.apply(state.PutStack(s))
		s = f.store.Snapshot().Stack(s.Namespace, s.Name).Copy()
	}
	targets := &api.Unit{Namespace: s.Namespace, Name: s.Unit}
	if old := f.store.Snapshot().Unit(s.Namespace, s.Unit); old != nil {
		*targets = *old
	}
	targets.Targets = map[uint32]string{1: s.Name}
	f.apply(state.PutUnit(targets))
}

// remove terminates the stacks whose grace has ended, and forgets terminated ones as their controller does.
func (f *lifecycleFleet) remove() {
	for s := range f.store.Snapshot().Stacks("*") {
		switch {
		case s.Removing:
			n := s.Copy()
			n.Status, n.StatusSince, n.Removing = api.StackTerminated, f.now, false
			f.apply(state.PutStack(n))
		case s.Status == api.StackTerminated && f.now.Sub(s.StatusSince) > api.AuditKept:
			f.apply(state.ForgetStack(s))
		}
	}
}

func (f *lifecycleFleet) snapshotSize() int64 {
	var b bytes.Buffer
	n, err := f.store.Snapshot().WriteTo(&b)
	if err != nil {
		f.b.Fatal(err)
	}
	return n
}
