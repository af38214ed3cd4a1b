// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// equip gives a test node devices, cores and host networks.
func equip(n *api.Node, gpus, cores int) {
	d := &api.NodeDeviceGroup{Vendor: "acme", Type: "gpu", Name: "one", Attributes: map[string]*api.DeviceAttribute{
		"memory": api.ParseDeviceAttribute("11 GiB"), "driver": {String: new("535.10")}, "ecc": api.ParseDeviceAttribute("true"),
	}}
	for i := range gpus {
		d.Instances = append(d.Instances, &api.NodeDevice{ID: fmt.Sprintf("g%d", i), Healthy: true})
	}
	n.Resources.Devices = []*api.NodeDeviceGroup{d}
	n.Resources.CPU.TotalCPUCores = uint16(cores)
	for i := range cores {
		n.Resources.CPU.ReservableCPUCores = append(n.Resources.CPU.ReservableCPUCores, uint16(i))
	}
	n.HostNetworks = map[string]*api.HostNetwork{
		"public":  {Name: "public", Address: "203.0.113.1", ReservedPorts: "22"},
		"private": {Name: "private", Address: "10.9.0.1"},
	}
	n.ComputedClass = api.ComputeClass(n)
}

// TestWhatIsGivenOutIsGivenOnce draws fleets and jobs that ask for devices,
// cores and ports of host networks, places and ends instances in any order, and
// looks that nothing is held twice, that the applier agrees, and that what is
// left of a fleet after all have ended is what was there before.
func TestWhatIsGivenOutIsGivenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testFleet(rapid.IntRange(1, 3).Draw(t, "nodes"))
		for _, n := range f.nodes {
			equip(n, rapid.IntRange(1, 3).Draw(t, "gpus"), rapid.IntRange(1, 4).Draw(t, "cores"))
		}
		fleet := NewFleet(f)
		empty := used(fleet.View())
		var live []*api.Allocation
		ids := 0
		t.Repeat(map[string]func(*rapid.T){
			"place": func(t *rapid.T) {
				job := specialJob(t)
				view := fleet.View()
				out := Place(view, &Order{
					Namespace: "default", JobID: job.ID, Requests: requests(job, rapid.IntRange(1, 4).Draw(t, "instances")),
					NewID: func() string { ids++; return fmt.Sprint(ids) }, Seed: rapid.Uint64().Draw(t, "seed"),
				})
				if refused := Check(view, out.Place, func(string) *api.Allocation { return nil }); len(refused) > 0 {
					t.Fatalf("the applier refuses %+v", refused)
				}
				for _, a := range out.Place {
					fleet.Change((*api.Allocation)(nil), a)
					live = append(live, a)
				}
			},
			"end": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				ended := live[i].Copy()
				ended.ClientStatus = api.AllocClientComplete
				fleet.Change(live[i], ended)
				live = slices.Delete(live, i, i+1)
			},
			"": func(t *rapid.T) { heldOnce(t, live) },
		})
		for _, a := range live {
			fleet.Change(a, (*api.Allocation)(nil))
		}
		if diff := cmp.Diff(empty, used(fleet.View())); diff != "" {
			t.Fatalf("not all came back (-want +got):\n%s", diff)
		}
	})
}

// specialJob draws a job that may ask for anything special.
func specialJob(t *rapid.T) *api.Job {
	job := testJob(4)
	r := job.Groups[0].Tasks[0].Resources
	if rapid.Bool().Draw(t, "cores") {
		r.CPU, r.Cores = new(0), new(rapid.IntRange(1, 2).Draw(t, "count"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "devices") {
		r.Devices = append(r.Devices, &api.DeviceRequest{
			Name: rapid.SampledFrom([]string{"gpu", "acme/gpu", "acme/gpu/one"}).Draw(t, "device"), Count: new(uint64(rapid.IntRange(1, 2).Draw(t, "count"))),
		})
	}
	network := &api.Network{}
	for i := range rapid.IntRange(0, 2).Draw(t, "ports") {
		p := api.Port{
			Label: fmt.Sprint("p", i), HostNetwork: rapid.SampledFrom([]string{"default", "public", "private"}).Draw(t, "network"),
			IgnoreCollision: rapid.IntRange(0, 4).Draw(t, "shared") == 0,
		}
		if rapid.Bool().Draw(t, "static") {
			p.Value = 8000 + 10*i + rapid.IntRange(0, 1).Draw(t, "number")
			network.ReservedPorts = append(network.ReservedPorts, p)
		} else {
			network.DynamicPorts = append(network.DynamicPorts, p)
		}
	}
	job.Groups[0].Networks = []*api.Network{network}
	return job
}

// heldOnce fails if two allocations hold the same.
func heldOnce(t *rapid.T, live []*api.Allocation) {
	held := map[string]string{}
	hold := func(a *api.Allocation, format string, args ...any) {
		what := a.NodeID + " " + fmt.Sprintf(format, args...)
		if other := held[what]; other != "" {
			t.Fatalf("%s and %s both hold %s", other, a.ID, what)
		}
		held[what] = a.ID
	}
	everywhere := map[string]string{}
	for _, a := range live {
		for _, task := range a.AllocatedResources.Tasks {
			for _, id := range task.CPU.ReservedCores {
				hold(a, "core %d", id)
			}
			for _, d := range task.Devices {
				for _, id := range d.DeviceIDs {
					hold(a, "device %s", id)
				}
			}
		}
		for _, m := range a.AllocatedResources.Shared.Ports {
			if !m.IgnoreCollision {
				hold(a, "port %s:%d", bindingOf(&m).address, m.Value)
				if bindingOf(&m).address == "" {
					everywhere[fmt.Sprint(a.NodeID, m.Value)] = a.ID
				}
			}
		}
	}
	for _, a := range live {
		for _, m := range a.AllocatedResources.Shared.Ports {
			if other := everywhere[fmt.Sprint(a.NodeID, m.Value)]; other != "" && other != a.ID && !m.IgnoreCollision {
				t.Fatalf("%s holds port %d on %s, and %s on all addresses", a.ID, m.Value, m.HostIP, other)
			}
		}
	}
}

// used describes what is taken on every node.
func used(v *View) string {
	var out strings.Builder
	v.eachPage(func(_ int32, p *page) {
		for i, n := range p.nodes {
			if n == nil {
				continue
			}
			o := p.at(i)
			fmt.Fprintf(&out, "%s %+v %d", n.ID, o.used, o.starting)
			if x := o.extra; x != nil {
				fmt.Fprintf(&out, " cores %v devices %v shared %v", x.cores, x.devices, x.shared)
				for _, address := range []string{"203.0.113.1", "10.9.0.1"} {
					eachTaken(x.bound[address], func(port int) { fmt.Fprintf(&out, " %s:%d", address, port) })
				}
			}
			eachTaken(o.ports, func(port int) { fmt.Fprintf(&out, " %d", port) })
			out.WriteByte('\n')
		}
	})
	return out.String()
}

func eachTaken(s *portSet, f func(port int)) {
	if s.isEmpty() {
		return
	}
	for port := range 1 << 16 {
		if s.has(port) {
			f(port)
		}
	}
}

func TestCheckRefusesWhatIsTakenOrNotThere(t *testing.T) {
	f := testFleet(1)
	n := f.nodes[0]
	equip(n, 2, 2)
	n.Resources.Devices[0].Instances[1].Healthy = false
	alloc := func(id string, change func(*api.AllocatedResources)) *api.Allocation {
		a := allocOn(id, n.ID, 0)
		a.AllocatedResources.Shared.Ports = nil
		change(a.AllocatedResources)
		return a
	}
	cores := func(ids ...uint16) func(*api.AllocatedResources) {
		return func(r *api.AllocatedResources) { r.Tasks["t"].CPU.ReservedCores = ids }
	}
	gpus := func(ids ...string) func(*api.AllocatedResources) {
		return func(r *api.AllocatedResources) {
			r.Tasks["t"].Devices = []*api.AllocatedDevice{{Vendor: "acme", Type: "gpu", Name: "one", DeviceIDs: ids}}
		}
	}
	port := func(network, ip string) func(*api.AllocatedResources) {
		return func(r *api.AllocatedResources) {
			r.Shared.Ports = []api.PortMapping{{Label: "p", Value: 80, HostNetwork: network, HostIP: ip}}
		}
	}
	for _, test := range []struct {
		first, second func(*api.AllocatedResources)
		want          string
	}{
		{cores(0), cores(1), ""},
		{cores(0), cores(0), "core 0 is taken"},
		{cores(0), cores(7), "core 7 of task t is not the node's to reserve"},
		{cores(), cores(1, 1), "core 1 is taken"},
		{gpus(), gpus("g0"), ""},
		{gpus("g0"), gpus("g0"), "device acme/gpu/one g0 is taken"},
		{gpus(), gpus("g1"), "device acme/gpu/one g1 is missing or not healthy"},
		{gpus(), gpus("g9"), "device acme/gpu/one g9 is missing or not healthy"},
		{gpus(), gpus("g0", "g0"), "device acme/gpu/one g0 is taken"},
		{port("public", "203.0.113.1"), port("private", "10.9.0.1"), ""},
		{port("public", "203.0.113.1"), port("public", "203.0.113.1"), "port 80 of 203.0.113.1 is taken"},
		{port("public", "203.0.113.1"), port("", "10.0.0.1"), "port 80 is taken"},
		{port("", "10.0.0.1"), port("private", "10.9.0.1"), "port 80 of 10.9.0.1 is taken"},
	} {
		refused := Check(NewFleet(f).View(), []*api.Allocation{alloc("one", test.first), alloc("two", test.second)}, func(string) *api.Allocation { return nil })
		got := ""
		for _, r := range refused {
			got += r.Reason
		}
		if got != test.want {
			t.Errorf("refused with %q, want %q", got, test.want)
		}
	}
}

func TestDeviceConditions(t *testing.T) {
	n := testNode(0)
	equip(n, 2, 1)
	g := n.Resources.Devices[0]
	for _, test := range []struct {
		left, operand, right string
		want                 bool
	}{
		{"${device.attr.memory}", ">=", "10 GiB", true},
		{"${device.attr.memory}", ">=", "11811160064 B", false}, // no unit of that name
		{"${device.attr.memory}", ">", "11 GB", true},
		{"${device.attr.memory}", "<", "11 GB", false},
		{"${device.attr.memory}", "=", "11264 MiB", true},
		{"${device.attr.memory}", "!=", "11 GiB", false},
		{"${device.attr.memory}", "!=", "5 W", true},
		{"${device.attr.memory}", ">", "lots", false},
		{"${device.attr.none}", "!=", "1", true},
		{"${device.attr.none}", "<", "1", false},
		{"${device.attr.none}", "is_set", "", false},
		{"${device.attr.none}", "is_not_set", "", true},
		{"${device.attr.memory}", "is_set", "", true},
		{"${device.attr.driver}", ">=", "530", true},
		{"${device.attr.driver}", "version", ">= 535.10, < 536", true},
		{"${device.attr.driver}", "version", "~> 536.1", false},
		{"${device.attr.driver}", "=", "535.10", true},
		{"${device.attr.ecc}", "=", "true", true},
		{"${device.attr.ecc}", "", "false", false},
		{"${device.vendor}", "=", "acme", true},
		{"${device.type}", "regexp", "^g", true},
		{"${device.model}", "set_contains_any", "one,two", true},
		{"${device.ids}", "set_contains", "g1", true},
		{"${device.ids}", "set_contains_all", "g1,g7", false},
		{"8 GiB", "<", "${device.attr.memory}", true},
	} {
		if got := newDeviceCondition(test.left, test.operand, test.right).holds(g); got != test.want {
			t.Errorf("%s %s %s: %t, want %t", test.left, test.operand, test.right, got, test.want)
		}
	}
}

func TestStickyRequestsPreferTheirNode(t *testing.T) {
	f := testFleet(3)
	f.allocs = append(f.allocs, allocOn("busy", f.nodes[0].ID, 9000)) // packing would put everything there
	job := testJob(1)
	job.Groups[0].EphemeralDisk = &api.EphemeralDisk{Sticky: new(true)}
	old := allocOn("old", f.nodes[2].ID, 9000)
	old.ClientStatus = api.AllocClientFailed
	for _, test := range []struct {
		penalised []string
		want      string
	}{{nil, f.nodes[2].ID}, {[]string{f.nodes[2].ID}, f.nodes[0].ID}} {
		rs := requests(job, 1)
		rs[0].Previous, rs[0].Penalised = old, test.penalised
		out := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: rs})
		if len(out.Place) != 1 || out.Place[0].NodeID != test.want {
			t.Errorf("penalised %v: placed %v, want %s", test.penalised, out.Place, test.want)
		}
	}
}
