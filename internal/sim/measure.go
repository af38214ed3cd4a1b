// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// statuses lists the statuses of evaluations.
var statuses = []string{api.EvalStatusPending, api.EvalStatusBlocked, api.EvalStatusComplete, api.EvalStatusFailed, api.EvalStatusCanceled}

// ask reads the data that only the server knows, before the nodes become silent.
func (r *run) ask(ctx context.Context) error {
	r.report.Evaluations = map[string]int{}
	for _, status := range statuses {
		n, _, err := r.client.Evaluations().Count(ctx, &client.QueryOptions{Params: url.Values{"status": {status}}})
		if err != nil {
			return fmt.Errorf("count evaluations: %w", err)
		}
		r.report.Evaluations[status] = n
	}
	if r.report.Evaluations[api.EvalStatusBlocked] > 0 {
		blocked, _, err := r.client.Evaluations().List(ctx, &client.QueryOptions{Filter: `Status == "blocked"`})
		if err != nil {
			return fmt.Errorf("list blocked evaluations: %w", err)
		}
		r.collectWaiting(blocked)
		if err := r.explainWaiting(ctx); err != nil {
			return err
		}
	}
	if r.options.Detached {
		if err := r.countPlaced(ctx); err != nil {
			return err
		}
	}
	if r.server != nil {
		s := &ServerReport{CPUTime: r.server.cpuTime(), Written: r.server.written(), PlacedMemory: r.placedMemory, Quiet: r.quietReport}
		s.Memory, s.PeakMemory = r.server.memory()
		s.DataBytes, s.LogBytes = r.server.dataBytes()
		if n := r.placed.Load(); n > 0 {
			s.PerPlaced = (s.CPUTime - r.cpuBefore - r.quietReport.CPUTime) / time.Duration(n)
		}
		r.report.Server = s
	}
	return nil
}

// countPlaced reads the number of placed instances from the server.
func (r *run) countPlaced(ctx context.Context) error {
	jobs, _, err := r.client.Jobs().List(ctx, nil)
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, j := range jobs {
		if j.JobSummary == nil || r.jobs[j.ID] == nil {
			continue
		}
		for _, g := range j.JobSummary.Summary {
			r.placed.Add(int64(g.Starting + g.Running + g.Complete))
		}
	}
	return nil
}

// collectWaiting groups the copies of a job that wait for the same reasons.
func (r *run) collectWaiting(blocked []*api.Evaluation) {
	at := map[string]int{}
	for _, e := range blocked {
		j := r.jobs[e.JobID]
		if j == nil {
			continue
		}
		for _, g := range j.spec.Groups {
			why := e.FailedGroups[g.Name]
			if why == nil {
				continue
			}
			n := max(e.QueuedAllocations[g.Name], 1)
			key := fmt.Sprint(j.file, "\x00", g.Name, why.ConstraintFiltered, why.DimensionExhausted, why.NodesAvailable)
			i, ok := at[key]
			if !ok {
				i = len(r.report.Waiting)
				at[key] = i
				r.report.Waiting = append(r.report.Waiting, WaitingReport{Job: j.spec.ID, Group: g.Name, Why: why})
			}
			w := &r.report.Waiting[i]
			w.Copies++
			w.Instances += n
			r.report.Instances.Waiting += int64(n)
		}
	}
}

// explained bounds the waiting groups for which the server is asked for an explanation.
const explained = 20

// explainWaiting asks the server for the nearest nodes and their obstacles.
func (r *run) explainWaiting(ctx context.Context) error {
	for i := range r.report.Waiting[:min(len(r.report.Waiting), explained)] {
		w := &r.report.Waiting[i]
		e, _, err := r.client.Jobs().Explain(ctx, w.Job, nil)
		if err != nil {
			return fmt.Errorf("ask why job %s waits: %w", w.Job, err)
		}
		for _, g := range e.Groups {
			if g.Group == w.Group {
				w.Explained = g
			}
		}
	}
	return nil
}

// measure computes the other figures from the nodes' records, after the nodes have stopped.
func (r *run) measure() {
	rep := r.report
	rep.Jobs.Registered = len(r.order)
	i := &rep.Instances
	i.Wanted, i.Placed, i.Started = r.wanted(), r.placed.Load(), r.running.Load()
	var first int64
	for _, j := range r.order {
		if at := j.submitted.Load(); at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	if r.lastPlaced.Load() > 0 {
		rep.AllPlaced = time.Duration(r.lastPlaced.Load() - first)
		rep.PlacementsPerSecond = perSecond(int(i.Placed), rep.AllPlaced)
	}
	if i.Started > 0 {
		rep.AllRunning = time.Duration(r.lastRunning.Load() - first)
	}
	var placed, running, replaced []time.Duration
	for _, n := range r.nodes {
		for _, a := range n.placed {
			placed = append(placed, a.placed)
			if a.running > 0 {
				running = append(running, a.running)
			}
		}
		replaced = append(replaced, n.replaced...)
		r.countInstances(n)
	}
	rep.Placed, rep.Running, rep.Replaced = latency(placed), latency(running), latency(replaced)
	r.measureCapacity()
	r.measureSpread()
	rep.Requests = RequestsReport{Heartbeats: r.heartbeats.Load(), Reports: r.reports.Load(), Messages: r.messages.Load(), Failed: r.failures.Load()}
	if r.failure != nil {
		rep.Requests.FirstFailure = r.failure.Error()
	}
}

func (r *run) countInstances(n *node) {
	i := &r.report.Instances
	holds := false
	for _, inst := range n.instances {
		holds = holds || inst.holds
		switch inst.current {
		case pending:
			i.Pending++
		case running:
			i.Running++
		case complete:
			i.Complete++
		case failed:
			i.Failed++
		}
	}
	if holds {
		r.report.NodesUsed++
	}
}

func latency(all []time.Duration) Latency {
	if len(all) == 0 {
		return Latency{}
	}
	slices.Sort(all)
	at := func(share float64) time.Duration { return all[min(len(all)-1, int(share*float64(len(all))))] }
	return Latency{len(all), at(0.5), at(0.9), at(0.99), all[len(all)-1]}
}

func perSecond(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// measureCapacity computes how full the fleet is, and how much free capacity is unusable.
func (r *run) measureCapacity() {
	least, any := r.leastAsk()
	rep := make([]DimensionReport, dimensions)
	for d := range rep {
		rep[d] = DimensionReport{Dimension: dimensionNames[d], Peak: r.peak[d]}
	}
	for _, n := range r.nodes {
		capacity := amounts(n.self.Capacity())
		fits := true
		for d := range rep {
			fits = fits && n.used[d]+least[d] <= capacity[d]
		}
		for d := range rep {
			rep[d].Capacity += capacity[d]
			rep[d].Used += n.used[d]
			if !n.power {
				continue
			}
			free := capacity[d] - n.used[d]
			rep[d].Free += free
			if any && !fits {
				rep[d].Stranded += free
			}
		}
	}
	r.report.Capacity = rep
}

// leastAsk returns the smallest amount that any group requests, by dimension.
func (r *run) leastAsk() (least [dimensions]int64, any bool) {
	for _, j := range r.order {
		for _, g := range j.groups {
			ask := amounts(g.spec.Usage())
			for d := range least {
				if !any || ask[d] < least[d] {
					least[d] = ask[d]
				}
			}
			any = true
		}
	}
	return least, any
}

// measureSpread compares the actual with the desired distribution of instances.
func (r *run) measureSpread() {
	for _, name := range r.files() {
		for _, g := range name.groups {
			for _, s := range g.spreads {
				if rep := r.spreadOf(name, g, s); rep.Copies > 0 {
					r.report.Spread = append(r.report.Spread, rep)
				}
			}
		}
	}
}

// files returns one job for each of the scenario's job files, by name.
func (r *run) files() (list []*job) {
	seen := map[string]bool{}
	for _, j := range r.order {
		if !seen[j.file] {
			seen[j.file] = true
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return cmp.Compare(a.spec.ID, b.spec.ID) })
	return list
}

func (r *run) spreadOf(first *job, g *group, s *api.Spread) SpreadReport {
	rep := SpreadReport{Job: first.spec.ID, Group: g.spec.Name, Attribute: s.Attribute}
	counts := map[*job]map[string]int{}
	values := map[string]bool{}
	for _, n := range r.nodes {
		value := property(n.self, selectable(s.Attribute))
		if n.power && value != "" {
			values[value] = true
		}
		for _, inst := range n.instances {
			if inst.holds && inst.group == g {
				if counts[inst.job] == nil {
					counts[inst.job] = map[string]int{}
				}
				counts[inst.job][value]++
			}
		}
	}
	for _, byValue := range counts {
		e := spreadError(s, byValue, values)
		rep.Copies++
		rep.MeanError += e
		if e >= rep.Error {
			rep.Error, rep.Example = e, byValue
		}
	}
	if rep.Copies > 0 {
		rep.MeanError /= float64(rep.Copies)
	}
	return rep
}

// selectable converts ${meta.zone} to meta.zone.
func selectable(attribute string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(attribute, "${"), "}")
	name = strings.TrimPrefix(name, "node.")
	return strings.TrimPrefix(name, "unique.")
}

// spreadError returns the largest deviation of any value, in instances.
func spreadError(s *api.Spread, byValue map[string]int, values map[string]bool) (worst float64) {
	total := 0
	for _, n := range byValue {
		total += n
	}
	want := map[string]float64{}
	rest := 100.0
	for _, t := range s.Targets {
		want[t.Value] = float64(t.Percent)
		rest -= float64(t.Percent)
	}
	var others []string
	for v := range values {
		if _, named := want[v]; !named {
			others = append(others, v)
		}
	}
	for _, v := range others {
		want[v] = max(rest, 0) / float64(len(others))
	}
	for v, percent := range want {
		worst = max(worst, math.Abs(float64(byValue[v])-percent/100*float64(total)))
	}
	return worst
}

// live reports whether one of the run's nodes is reachable. The caller knows that no request
// is in flight.
func (r *run) live(id string) (live, ours bool) {
	i, ok := r.position[id]
	if !ok {
		return false, false
	}
	return r.nodes[i].up.Load(), true
}
