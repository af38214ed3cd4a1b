// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// An act is an event or its reversal, with the nodes drawn for it.
type act struct {
	at    time.Duration
	words string
	do    func(ctx context.Context, n *node) error
	nodes []int
	stop  string // job to stop
}

// singular returns the description for a single node.
func (a act) singular() string {
	words := strings.Replace(a.words, "are ", "is ", 1)
	words = strings.Replace(words, "have ", "has ", 1)
	return strings.Replace(words, "lose ", "loses ", 1)
}

// acts returns the acts of the run, in order.
func (r *run) acts() []act {
	var list []act
	all := make([]*api.Node, len(r.nodes))
	for i, n := range r.nodes {
		all[i] = n.self
	}
	for i := range r.scenario.Events {
		e := &r.scenario.Events[i]
		pick := func(sel *Selection) []int { return sel.pick(all, r.rng(uint64(i))) }
		switch {
		case e.Kill != nil:
			nodes := pick(e.Kill)
			list = append(list, apart(act{at: e.At, words: "lose power", do: told(off), nodes: nodes}, e.Each)...)
			if e.For > 0 {
				list = append(list, apart(act{at: e.At + e.For, words: "have power again", do: told(on), nodes: nodes}, e.Each)...)
			}
		case e.Partition != nil:
			nodes := pick(e.Partition)
			list = append(list, apart(act{at: e.At, words: "are cut off", do: told(cut), nodes: nodes}, e.Each)...)
			if e.For > 0 {
				list = append(list, apart(act{at: e.At + e.For, words: "can be reached again", do: told(connect), nodes: nodes}, e.Each)...)
			}
		case e.Revive != nil:
			list = append(list, apart(act{at: e.At, words: "have power again", do: told(on), nodes: pick(e.Revive)}, e.Each)...)
		case e.Heal != nil:
			list = append(list, apart(act{at: e.At, words: "can be reached again", do: told(connect), nodes: pick(e.Heal)}, e.Each)...)
		case e.Drain != nil:
			list = append(list, apart(act{at: e.At, words: "are drained", do: drain(e.Deadline), nodes: pick(e.Drain)}, e.Each)...)
		case e.Stop != "":
			list = append(list, act{at: e.At, stop: e.Stop})
		}
	}
	slices.SortStableFunc(list, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return list
}

// apart splits an act into one for each node, if each is set.
func apart(a act, each time.Duration) []act {
	if each <= 0 {
		return []act{a}
	}
	var list []act
	for i, n := range a.nodes {
		one := a
		one.at += each * time.Duration(i)
		one.nodes = []int{n}
		list = append(list, one)
	}
	return list
}

// happen executes the acts at their times.
func (r *run) happen(ctx context.Context) error {
	for _, a := range r.acts() {
		if !until(ctx, r.began.Add(a.at)) {
			return nil
		}
		if a.stop != "" {
			if err := r.stopJobs(ctx, a.stop); err != nil {
				return err
			}
			continue
		}
		for _, i := range a.nodes {
			if err := a.do(ctx, r.nodes[i]); err != nil {
				return err
			}
		}
		words := fmt.Sprintf("%d nodes %s", len(a.nodes), a.words)
		if len(a.nodes) == 1 {
			words = fmt.Sprintf("node %s: %s", r.nodes[a.nodes[0]].self.Name, a.singular())
		}
		r.report.Events = append(r.report.Events, EventReport{At: time.Since(r.began), Description: words})
		r.tell("%6s  %s", short(time.Since(r.began)), words)
	}
	return nil
}

// told returns a function that sends an order to a node.
func told(what int) func(context.Context, *node) error {
	return func(ctx context.Context, n *node) error {
		done := make(chan struct{})
		select {
		case n.orders <- order{what, done}:
			<-done
		case <-ctx.Done():
		}
		return nil
	}
}

// drain returns a function that starts a node's drain.
func drain(deadline time.Duration) func(context.Context, *node) error {
	return func(ctx context.Context, n *node) error {
		_, err := n.nodes.Drain(ctx, n.self.ID, &api.NodeDrainRequest{DrainSpec: &api.DrainSpec{Deadline: deadline}})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("drain node %s: %w", n.self.Name, err)
		}
		return nil
	}
}

// stopJobs stops a job, or all copies of one.
func (r *run) stopJobs(ctx context.Context, id string) error {
	stopped := 0
	for _, j := range r.order {
		number, copy := strings.CutPrefix(j.spec.ID, id+"-")
		if j.spec.ID != id && !(copy && strings.Trim(number, "0123456789") == "") {
			continue
		}
		if _, err := r.client.Jobs().Deregister(ctx, j.spec.ID, client.DeregisterOptions{}); err != nil {
			return fmt.Errorf("stop job %s: %w", j.spec.ID, err)
		}
		stopped++
	}
	if stopped == 0 {
		return api.Errorf(api.CodeInvalid, "stop: there is no job %q in the scenario", id)
	}
	return nil
}
