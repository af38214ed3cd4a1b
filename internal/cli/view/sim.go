// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/sim"
)

// SimReport writes the results of a simulation. If the question was whether jobs fit,
// the answer comes first.
func SimReport(p *term.Page, r *sim.Report, fit bool) {
	if fit {
		simAnswer(p, r)
	}
	simWaiting(p, r)
	simFleet(p, r)
	if !fit {
		simSpeed(p, r)
	}
	simSpread(p, r)
	simStacks(p, r)
	if !fit {
		simServer(p, r)
	}
}

func simAnswer(p *term.Page, r *sim.Report) {
	switch {
	case r.Limit:
		p.Line("%s", p.Style.Yellow("The time limit was reached before all evaluations were complete: the result is not final."))
	case r.Fits():
		p.Line("%s", p.Style.Green(fmt.Sprintf("All jobs fit: %s on %s of %d nodes.",
			human.Count(int(r.Instances.Placed), "instance", "instances"), thousands(int64(r.NodesUsed)), r.Nodes.Registered)))
	default:
		p.Line("%s", p.Style.Yellow(fmt.Sprintf("The jobs do not fit: %s not placed; %s placed, on %d of %d nodes.",
			human.Count(int(r.Instances.Waiting), "instance", "instances"), thousands(r.Instances.Placed), r.NodesUsed, r.Nodes.Registered)))
	}
}

// simWaiting writes the waiting instances with their reasons.
func simWaiting(p *term.Page, r *sim.Report) {
	if len(r.Waiting) == 0 {
		return
	}
	p.Section("Waiting instances")
	for _, w := range r.Waiting {
		name := fmt.Sprintf("Job %q, group %q:", w.Job, w.Group)
		words := human.Count(w.Instances, "instance waits", "instances wait")
		if w.Copies > 1 {
			words += fmt.Sprintf(" of %d copies", w.Copies)
		}
		p.Line("%s %s", p.Style.Yellow(name), words)
		if w.Explained != nil {
			groupExplanation(p, w.Explained)
			continue
		}
		for _, line := range explainPlacement(w.Why) {
			p.Line("  * %s", line)
		}
	}
}

// simFleet writes the utilization of the fleet.
func simFleet(p *term.Page, r *sim.Report) {
	p.Section("Fleet")
	p.Fields(
		term.Field{"Nodes", fmt.Sprintf("%d, %d of them with allocations at the end", r.Nodes.Registered, r.NodesUsed)},
		term.Field{"Instances", fmt.Sprintf("%s requested, %s placed; at the end %s running, %s waiting, %s complete, %s failed", thousands(r.Instances.Wanted),
			thousands(r.Instances.Placed), thousands(r.Instances.Running), thousands(r.Instances.Waiting), thousands(r.Instances.Complete), thousands(r.Instances.Failed))},
	)
	p.Line("")
	var rows [][]string
	for _, d := range r.Capacity {
		rows = append(rows, []string{d.Dimension, amount(d.Dimension, d.Capacity), percent(d.Peak, d.Capacity), percent(d.Used, d.Capacity),
			amount(d.Dimension, d.Free), percent(d.Stranded, d.Free)})
	}
	p.Table([]string{"", "Capacity", "Peak use", "Final use", "Free", "Stranded of free"}, rows)
}

// eventsShown limits the events of the report.
const eventsShown = 6

// simSpeed writes the measured times.
func simSpeed(p *term.Page, r *sim.Report) {
	p.Section("Speed")
	fields := []term.Field{
		{"Nodes registered", fmt.Sprintf("%s in %s, %s/s", thousands(int64(r.Nodes.Registered)), brief(r.Nodes.Took), thousands(int64(r.Nodes.PerSecond)))},
		{"Jobs registered", fmt.Sprintf("%s in %s", thousands(int64(r.Jobs.Registered)), brief(r.Jobs.Took))},
	}
	if r.AllPlaced > 0 {
		fields = append(fields, term.Field{"All placed", fmt.Sprintf("%s, %s placements/s", brief(r.AllPlaced), thousands(int64(r.PlacementsPerSecond)))})
	}
	if r.AllRunning > 0 {
		fields = append(fields, term.Field{"All running", brief(r.AllRunning)})
	}
	p.Fields(fields...)
	var rows [][]string
	for _, l := range []struct {
		name string
		sim.Latency
	}{
		{"registered -> placed", r.Placed},
		{"registered -> running", r.Running},
		{"node lost -> replaced", r.Replaced},
	} {
		if l.Count > 0 {
			rows = append(rows, []string{l.name, thousands(int64(l.Count)), brief(l.P50), brief(l.P90), brief(l.P99), brief(l.Max)})
		}
	}
	if len(rows) > 0 {
		p.Line("")
		p.Table([]string{"", "Instances", "p50", "p90", "p99", "max"}, rows)
	}
	for i, e := range r.Events {
		switch left := len(r.Events) - eventsShown; {
		case left <= 1 || i < eventsShown/2 || i >= eventsShown/2+left:
			p.Line("%8s  %s", brief(e.At), e.Description)
		case i == eventsShown/2:
			p.Line("%8s  %d more", "...", left)
		}
	}
	if r.Limit {
		p.Line("%s", p.Style.Yellow("The time limit was reached before all work was complete."))
	}
}

func simSpread(p *term.Page, r *sim.Report) {
	if len(r.Spread) == 0 {
		return
	}
	p.Section("Spread")
	var rows [][]string
	for _, s := range r.Spread {
		example := ""
		for _, value := range slices.Sorted(maps.Keys(s.Example)) {
			example += fmt.Sprintf("%s=%d ", value, s.Example[value])
		}
		rows = append(rows, []string{s.Job, s.Group, s.Attribute, fmt.Sprintf("%.1f", s.Error), fmt.Sprintf("%.1f", s.MeanError), example})
	}
	p.Table([]string{"Job", "Group", "Over", "Maximum error", "Mean error", "Instances"}, rows)
}

// violationsShown limits the stacks with callers that were made garbage.
const violationsShown = 10

// simStacks writes the life of the stacks, and whether one that had a caller was made garbage.
func simStacks(p *term.Page, r *sim.Report) {
	s := r.Stacks
	if s == nil {
		return
	}
	p.Section("Stacks")
	p.Fields(
		term.Field{"Units", fmt.Sprintf("%s, %s deployed, %s refused, %s stopped", thousands(int64(s.Units)),
			human.Count(s.Deployed, "version", "versions"), thousands(int64(s.Refused)), thousands(int64(s.Stopped)))},
		term.Field{"Stacks at the end", human.Dash(counted(s.States))},
		term.Field{"Sweeps", fmt.Sprintf("%s; verdicts: %s", thousands(int64(s.Sweeps)), human.Dash(counted(s.Verdicts)))},
	)
	var rows [][]string
	for _, l := range []struct {
		name string
		sim.Latency
	}{{"deployed -> accepted", s.Accepted}, {"deployed -> ready", s.Ready}} {
		if l.Count > 0 {
			rows = append(rows, []string{l.name, thousands(int64(l.Count)), brief(l.P50), brief(l.P90), brief(l.P99), brief(l.Max)})
		}
	}
	if len(rows) > 0 {
		p.Line("")
		p.Table([]string{"", "Stacks", "p50", "p90", "p99", "max"}, rows)
	}
	if r.IsProven() {
		p.Line("%s", p.Style.Green(fmt.Sprintf("Sweeps made %s garbage, and none of them had a caller.", human.Count(s.Marked, "stack", "stacks"))))
		return
	}
	p.Line("%s", p.Style.Red(fmt.Sprintf("Sweeps made %s garbage, and %d of them had a caller:", human.Count(s.Marked, "stack", "stacks"), len(s.Violations))))
	for _, text := range s.Violations[:min(len(s.Violations), violationsShown)] {
		p.Line("  * %s", text)
	}
}

// counted writes counters by name, such as "3 ready, 1 warming".
func counted(counts map[string]int) (text string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > 0 {
			if text != "" {
				text += ", "
			}
			text += thousands(int64(n)) + " " + name
		}
	}
	return text
}

func simServer(p *term.Page, r *sim.Report) {
	p.Section("Server")
	var evaluations string
	for _, status := range slices.Sorted(maps.Keys(r.Evaluations)) {
		if n := r.Evaluations[status]; n > 0 {
			evaluations += fmt.Sprintf("%s %s, ", thousands(int64(n)), status)
		}
	}
	if len(evaluations) > 2 {
		evaluations = evaluations[:len(evaluations)-2]
	}
	requests := fmt.Sprintf("%s heartbeats, %s reports, %s messages to nodes", thousands(r.Requests.Heartbeats), thousands(r.Requests.Reports), thousands(r.Requests.Messages))
	if r.Requests.Failed > 0 {
		requests += fmt.Sprintf("; %s failed, the first: %s", thousands(r.Requests.Failed), r.Requests.FirstFailure)
	}
	fields := []term.Field{{"Evaluations", human.Dash(evaluations)}, {"Requests of nodes", requests}}
	if s := r.Server; s != nil {
		fields = append(fields,
			term.Field{"Memory", fmt.Sprintf("%s, %s at its peak", bytesWords(s.Memory), bytesWords(s.PeakMemory))},
			term.Field{"Processor time", processorTime(s)},
			term.Field{"Disk", fmt.Sprintf("%s of log, %s with snapshots; %s written", bytesWords(s.LogBytes), bytesWords(s.DataBytes), bytesWords(s.Written))})
	}
	if s := r.Server; s != nil && s.Quiet.Took > 0 {
		fields = append(fields, term.Field{"While quiet", fmt.Sprintf("%.1f %% of one processor, %s heartbeats/s",
			100*s.Quiet.CPUTime.Seconds()/s.Quiet.Took.Seconds(), thousands(int64(float64(s.Quiet.Heartbeats)/s.Quiet.Took.Seconds())))})
	}
	p.Fields(fields...)
}

// processorTime formats the server's processor time.
func processorTime(s *sim.ServerReport) string {
	if s.PerPlaced == 0 {
		return brief(s.CPUTime)
	}
	return fmt.Sprintf("%s, %s per placed instance", brief(s.CPUTime), brief(s.PerPlaced))
}

// amount formats a quantity of a dimension.
func amount(dimension string, n int64) string {
	if dimension == "cpu" {
		return thousands(n) + " MHz"
	}
	return human.Megabytes(n)
}

func percent(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func bytesWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// thousands formats a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// brief formats a measured time with its significant digits.
func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
