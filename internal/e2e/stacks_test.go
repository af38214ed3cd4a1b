// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// stackJob describes a version of the unit web, which exposes web.test.
func stackJob(reeve, version string, over time.Duration) *api.Job {
	job := routedJob(reeve, version)
	job.Groups[0].Routes, job.Groups[0].Count = nil, ptr(2)
	job.Stack = &api.StackSpec{
		Version: version, Shift: &api.ShiftSpec{Over: over}, Expose: []*api.StackExposure{{Host: "web.test"}},
	}
	return job
}

// TestTrafficShiftsBetweenStacksWithoutLostRequests deploys versions side by
// side, while clients send requests, and kills the agent during a shift.
func TestTrafficShiftsBetweenStacksWithoutLostRequests(t *testing.T) {
	m := newMachine(t)
	first := m.deployStack(stackJob(m.Reeve, "1.0.0", 10*time.Second))
	m.answered("1.0.0")

	h := m.hammer(4)
	m.deployStack(stackJob(m.Reeve, "1.1.0", 10*time.Second))
	m.answered("1.0.0", "1.1.0")
	m.shifted("1.1.0", 0)
	m.answered("1.1.0")
	h.stop()
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}

	m.reeve("stack", "stop", first)
	m.inState(first, api.StackGarbage)
	m.reeve("stack", "rescue", first)
	m.inState(first, api.StackReady)
	m.answered("1.1.0")

	m.deployStack(stackJob(m.Reeve, "1.2.0", 15*time.Second))
	var share float64
	m.eventually("the shift to 1.2.0 has begun to move traffic", func(ctx context.Context) error {
		shift, _, err := m.Client.Shifts().Get(ctx, "web", nil)
		if err != nil {
			return err
		}
		if share = shift.Share; share == 0 {
			return fmt.Errorf("shift: %+v", shift)
		}
		return nil
	})
	m.Kill()
	m.start()
	m.shifted("1.2.0", share)
	m.answered("1.2.0")
}

// deployStack deploys a stack, waits until it is ready, and returns its name.
func (m *machine) deployStack(job *api.Job) string {
	m.t.Helper()
	res, err := m.Client.Stacks().Deploy(m.t.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{job}})
	if err != nil {
		m.t.Fatalf("deploy %s %s: %v", job.ID, job.Stack.Version, err)
	}
	name := res.Stacks[0].Name
	m.inState(name, api.StackReady)
	return name
}

func (m *machine) inState(stack, state string) {
	m.t.Helper()
	m.eventually(stack+" is "+state, func(ctx context.Context) error {
		s, _, err := m.Client.Stacks().Get(ctx, stack, nil)
		if err != nil {
			return err
		}
		if s.Shown != state {
			return fmt.Errorf("%s: %s", s.Shown, s.StatusText())
		}
		return nil
	})
}

// answered waits until exactly these versions answer requests.
func (m *machine) answered(versions ...string) {
	m.t.Helper()
	m.eventually(fmt.Sprintf("%v answer", versions), func(ctx context.Context) error {
		if s, err := m.Client.Status().Router(ctx); err != nil || len(s.Routes) == 0 {
			return fmt.Errorf("router: %+v, %v", s, err)
		}
		if got := m.colors(40); !slices.Equal(got, versions) {
			return fmt.Errorf("%v answer", got)
		}
		return nil
	})
}

// shifted follows the newest shift, whose share never falls below its last one, until
// all traffic is on the stack of a version.
func (m *machine) shifted(version string, share float64) {
	m.t.Helper()
	m.eventually("all traffic is on "+version, func(ctx context.Context) error {
		shifts, _, err := m.Client.Shifts().List(ctx, nil)
		if err != nil {
			return err
		}
		if len(shifts) == 0 {
			return fmt.Errorf("no shift")
		}
		shift := shifts[0]
		if _, v, _, _ := api.ParseStackName(shift.To); v.String() != version {
			return fmt.Errorf("the newest shift leads to %s", shift.To)
		}
		if shift.Share < share {
			m.t.Fatalf("the share of %s fell from %v to %v", version, share, shift.Share)
		}
		if share = shift.Share; shift.Status != api.ShiftComplete {
			return fmt.Errorf("shift: %s, share %v", shift.Status, shift.Share)
		}
		return nil
	})
}
