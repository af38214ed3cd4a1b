// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A drainMonitor reports the progress of a drain on stderr.
type drainMonitor struct {
	c     *cli
	cl    *client.Client
	out   *term.Live
	wide  bool
	known map[string]*api.DrainingAllocation // last state, by id
	waits map[string]string                  // last report of waiting allocations, by group
}

// followDrain follows a drain until it is complete. It fails if the drain is cancelled.
func (c *cli) followDrain(ctx context.Context, cl *client.Client, id string, index uint64, wide bool) error {
	out := c.live()
	cl = c.patient(cl, out.Say)
	m := &drainMonitor{c: c, cl: cl, out: out, wide: wide, known: map[string]*api.DrainingAllocation{}, waits: map[string]string{}}
	defer m.out.Done()
	q := &client.QueryOptions{Wait: 10 * time.Second}
	for {
		s, meta, err := cl.Nodes().DrainStatus(ctx, id, q)
		if err != nil {
			return err
		}
		if meta.Index < index { // the server has not applied the drain yet
			q.Index = meta.Index
			continue
		}
		m.say(ctx, s)
		if s.DrainStrategy == nil {
			m.out.Done()
			return m.ended(s)
		}
		m.out.Show("%s (%s)", view.DrainCount(s), human.Duration(c.Now().Sub(s.DrainStrategy.StartedAt).Round(time.Second)))
		q.Index = meta.Index
	}
}

// say reports changes of the drain.
func (m *drainMonitor) say(ctx context.Context, s *api.NodeDrainStatus) {
	now := map[string]*api.DrainingAllocation{}
	waiting, why := map[string]int{}, map[string]string{}
	var groups []string
	for _, a := range s.Allocations {
		now[a.ID] = a
		old := m.known[a.ID]
		line := m.describe(a)
		if a.State == api.DrainWaiting {
			group := a.JobID + "." + a.TaskGroup
			if waiting[group] == 0 {
				groups = append(groups, group)
			}
			waiting[group]++
			why[group] = a.Description
			continue
		}
		if old == nil || m.describe(old) != line {
			m.out.Say("  %s", line)
		}
	}
	for id, old := range m.known {
		if now[id] == nil {
			m.out.Say("  %s %s has ended%s", m.id(id), old.Name, m.replacementOf(ctx, id))
		}
	}
	for _, group := range groups {
		if line := fmt.Sprintf("%s: %s: %s", group, m.waiting(waiting[group]), why[group]); m.waits[group] != line {
			m.waits[group] = line
			m.out.Say("  %s", line)
		}
	}
	m.known = now
}

// replacementOf describes the replacement of an ended allocation.
func (m *drainMonitor) replacementOf(ctx context.Context, id string) string {
	a, _, err := m.cl.Allocations().Get(ctx, id, nil)
	if err != nil || a.NextAllocation == "" {
		return ""
	}
	next, _, err := m.cl.Allocations().Get(ctx, a.NextAllocation, nil)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("; replaced by %s on %s", m.id(next.ID), cmp.Or(next.NodeName, api.ShortID(next.NodeID)))
}

func (m *drainMonitor) waiting(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

func (m *drainMonitor) describe(a *api.DrainingAllocation) string {
	line := fmt.Sprintf("%s %s %s", m.id(a.ID), a.Name, a.State)
	if a.Replacement != nil {
		return line + "; replaced by " + view.Replacement(a, m.wide)
	}
	return line + ": " + a.Description
}

func (m *drainMonitor) id(id string) string {
	if m.wide {
		return id
	}
	return api.ShortID(id)
}

// ended reports the end of the drain.
func (m *drainMonitor) ended(s *api.NodeDrainStatus) error {
	r := s.LastDrain
	switch {
	case r == nil:
		return errors.New("the node has never drained")
	case r.Status == api.DrainStatusCanceled:
		return fmt.Errorf("the drain was canceled after %s", human.Duration(r.UpdatedAt.Sub(r.StartedAt).Round(time.Second)))
	}
	fmt.Fprintf(m.c.Stdout, "Node %s is drained: all its allocations stopped after %s.\n",
		api.ShortID(s.NodeID), r.UpdatedAt.Sub(r.StartedAt).Round(100*time.Millisecond))
	return nil
}
