// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/jobspec"
)

// Commands about where instances run:
//
//	node NAME [as for nodes]     one node, with what the lines below say
//	  attr NAME=VALUE
//	  cores N                    of 1,000 MHz each
//	  device VENDOR/TYPE/MODEL IDS [NAME=VALUE...]  a value may have a unit: 40GiB
//	  broken DEVICE-ID...        those are not healthy
//	  host_network NAME ADDRESS [RESERVED PORTS]
//	  reserved PORTS
//	hcl                          register the job file below, evaluate, and print
//	cluster [algorithm=A] [zone=${...}] [max_starting=N] [memory_oversubscription=BOOL]
//	holds INSTANCE...|all        print what each holds of its node
//	scores INSTANCE...           print why those nodes, as the terms of their scores
func init() {
	verbs["node"] = func(w *world, args, lines []string) string { w.node(args, lines); return "" }
	verbs["cluster"] = func(w *world, args, _ []string) string { w.cluster(pairs(args)); return "" }
	verbs["holds"] = func(w *world, args, _ []string) string { return w.holds(args) }
	verbs["scores"] = func(w *world, args, _ []string) string { return w.scores(args) }
	verbs["hcl"] = func(w *world, _, lines []string) string { return w.hcl(strings.Join(lines, "\n")) }
}

func (w *world) node(args, lines []string) {
	w.t.Helper()
	n := newNode(args[0])
	n.Meta = map[string]string{}
	for key, value := range pairs(args[1:]) {
		setNode(n, key, value)
	}
	for _, line := range lines {
		words := strings.Fields(line)
		rest := words[1:]
		switch words[0] {
		case "attr":
			maps.Copy(n.Attributes, pairs(rest))
		case "cores":
			count, _ := strconv.Atoi(rest[0])
			n.Resources.CPU = api.NodeCPU{CPUShares: int64(1000 * count), TotalCPUCores: uint16(count)}
			for id := range count {
				n.Resources.CPU.ReservableCPUCores = append(n.Resources.CPU.ReservableCPUCores, uint16(id))
			}
		case "device":
			of := strings.Split(rest[0], "/")
			d := &api.NodeDeviceGroup{Vendor: of[0], Type: of[1], Name: of[2], Attributes: map[string]*api.DeviceAttribute{}}
			for id := range strings.SplitSeq(rest[1], ",") {
				d.Instances = append(d.Instances, &api.NodeDevice{ID: id, Healthy: true})
			}
			for name, value := range pairs(rest[2:]) {
				d.Attributes[name] = api.ParseDeviceAttribute(value)
			}
			n.Resources.Devices = append(n.Resources.Devices, d)
		case "broken":
			for _, d := range n.Resources.Devices {
				for _, i := range d.Instances {
					i.Healthy = i.Healthy && !slices.Contains(rest, i.ID)
				}
			}
		case "host_network":
			if n.HostNetworks == nil {
				n.HostNetworks = map[string]*api.HostNetwork{}
			}
			h := &api.HostNetwork{Name: rest[0], Address: rest[1]}
			if len(rest) > 2 {
				h.ReservedPorts = rest[2]
			}
			n.HostNetworks[h.Name] = h
		case "reserved":
			n.Reserved = &api.NodeReserved{Networks: api.NodeReservedNetworks{ReservedHostPorts: rest[0]}}
		default:
			w.t.Fatalf("node: unknown line %q", line)
		}
	}
	w.putNode(n)
}

func (w *world) cluster(options map[string]string) {
	c := *w.snapshot().SchedulerConfig()
	for key, value := range options {
		switch key {
		case "algorithm":
			c.Algorithm = value
		case "zone":
			c.ZoneAttribute = value
		case "max_starting":
			c.MaxStartingPerNode, _ = strconv.Atoi(value)
		case "memory_oversubscription":
			c.MemoryOversubscriptionEnabled = value == "true"
		default:
			w.t.Fatalf("cluster: unknown option %q", key)
		}
	}
	w.apply(&state.SetSchedulerConfig{Config: &c})
}

// policy is how the cluster places.
func (w *world) policy() placement.Policy {
	c := w.snapshot().SchedulerConfig()
	var held func(string) iter.Seq[*api.Allocation]
	if job := w.newest(); job != nil && c.Preemption.Enabled(job.Type) {
		held = w.snapshot().AllocationsByNode
	}
	return placement.Policy{
		Held:      held,
		Algorithm: c.Algorithm, ZoneAttribute: c.ZoneAttribute, MaxStarting: c.MaxStartingPerNode,
		MemoryOversubscription: c.MemoryOversubscriptionEnabled,
	}
}

// hcl registers a job file; what is wrong with it is printed.
func (w *world) hcl(text string) string {
	w.t.Helper()
	job, err := jobspec.Parse(jobspec.Source{Name: "job.hcl", Text: []byte(text)}, jobspec.Options{})
	if err != nil {
		return err.Error() + "\n"
	}
	job.Canonicalize()
	if err := job.Validate(); err != nil {
		return err.Error() + "\n"
	}
	if refused := api.Unsupported(job); len(refused) > 0 {
		return strings.Join(refused, "\n") + "\n"
	}
	w.job = job.ID
	w.apply(&state.RegisterJob{Job: job})
	return w.print(w.evaluation())
}

// holds lists what allocations hold beside cpu and disk.
func (w *world) holds(names []string) string {
	var out strings.Builder
	for _, a := range w.instances(names) {
		fmt.Fprintf(&out, "%s:", describe(a))
		r := a.AllocatedResources
		for _, p := range r.Shared.Ports {
			fmt.Fprintf(&out, " %s=%s:%d", p.Label, p.HostIP, p.Value)
		}
		for _, task := range slices.Sorted(maps.Keys(r.Tasks)) {
			t := r.Tasks[task]
			fmt.Fprintf(&out, " %s %d MHz, %d MB", task, t.CPU.CPUShares, t.Memory.MemoryMB)
			if t.Memory.MemoryMaxMB > 0 {
				fmt.Fprintf(&out, " up to %d MB", t.Memory.MemoryMaxMB)
			}
			if len(t.CPU.ReservedCores) > 0 {
				fmt.Fprintf(&out, ", cores %s", api.FormatCores(t.CPU.ReservedCores))
			}
			for _, d := range t.Devices {
				fmt.Fprintf(&out, ", %s/%s/%s %s", d.Vendor, d.Type, d.Name, strings.Join(d.DeviceIDs, ","))
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (w *world) scores(names []string) string {
	var out strings.Builder
	for _, a := range w.instances(names) {
		fmt.Fprintf(&out, "%s\n", describe(a))
		for _, s := range a.Metrics.ScoreMetaData {
			fmt.Fprintf(&out, "  %s %.2f:", s.NodeID, s.NormScore)
			for _, term := range slices.Sorted(maps.Keys(s.Scores)) {
				fmt.Fprintf(&out, " %s %.2f", term, s.Scores[term])
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}
