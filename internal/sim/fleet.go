// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// agentVersion is the version that simulated nodes report.
const agentVersion = "0.1.0"

// fleet returns the scenario's nodes as they register. Their ids are drawn with the seed, so
// the same scenario always has the same fleet.
func (s *Scenario) fleet() []*api.Node {
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	var nodes []*api.Node
	for _, g := range s.Nodes {
		for i := range g.Count {
			nodes = append(nodes, g.node(i+1, rng))
		}
	}
	return nodes
}

func (g *NodeGroup) node(number int, rng *rand.Rand) *api.Node {
	name := fmt.Sprintf("%s-%d", g.Name, number)
	n := &api.Node{
		ID: drawID(rng), Name: name, Datacenter: g.Datacenter, NodeClass: g.Class, NodePool: g.Pool,
		Attributes: map[string]string{
			"kernel.name": "linux", "cpu.arch": "amd64", "cpu.numcores": strconv.Itoa(g.Cores),
			"cpu.totalcompute": strconv.FormatInt(g.CPU, 10), "memory.totalbytes": strconv.FormatInt(g.Memory<<20, 10),
			"unique.hostname": name, "unique.network.ip-address": "127.0.0.1", api.NodeAttrVersion: agentVersion,
		},
		Meta:    maps.Clone(g.Meta),
		Drivers: map[string]*api.DriverStatus{},
		Resources: &api.NodeResources{
			CPU:    api.NodeCPU{CPUShares: g.CPU, TotalCPUCores: uint16(g.Cores)},
			Memory: api.NodeMemory{MemoryMB: g.Memory}, Disk: api.NodeDisk{DiskMB: g.Disk},
			Networks:       []*api.Network{{Mode: "host", Device: "eth0", CIDR: "127.0.0.1/32", IP: "127.0.0.1"}},
			MinDynamicPort: api.DynamicPortMin, MaxDynamicPort: api.DynamicPortMax,
		},
		Reserved: &api.NodeReserved{},
	}
	for core := range g.Cores {
		n.Resources.CPU.ReservableCPUCores = append(n.Resources.CPU.ReservableCPUCores, uint16(core))
	}
	for _, name := range append([]string{"mock", "mock_driver"}, g.Drivers...) {
		n.Drivers[name] = &api.DriverStatus{Detected: true, Healthy: true, HealthDescription: "Healthy", UpdateTime: time.Unix(0, 0).UTC()}
		n.Attributes["driver."+name] = "1"
	}
	maps.Copy(n.Attributes, g.Attributes)
	for _, d := range g.Devices {
		n.Resources.Devices = append(n.Resources.Devices, d.group(name))
	}
	return n
}

func (d *Device) group(node string) *api.NodeDeviceGroup {
	g := &api.NodeDeviceGroup{Vendor: d.Vendor, Type: d.Type, Name: d.Name, Attributes: map[string]*api.DeviceAttribute{}}
	for i := range d.Count {
		g.Instances = append(g.Instances, &api.NodeDevice{ID: fmt.Sprintf("%s-%s-%d", node, d.Type, i), Healthy: true})
	}
	for name, text := range d.Attributes {
		g.Attributes[name] = deviceAttribute(text)
	}
	return g
}

// deviceAttribute parses "24 GiB", "1.5", "true" or text.
func deviceAttribute(text string) *api.DeviceAttribute {
	number, unit, _ := strings.Cut(text, " ")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return &api.DeviceAttribute{Int: &n, Unit: unit}
	}
	if f, err := strconv.ParseFloat(number, 64); err == nil {
		return &api.DeviceAttribute{Float: &f, Unit: unit}
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return &api.DeviceAttribute{Bool: &b}
	}
	return &api.DeviceAttribute{String: &text}
}

func drawID(rng *rand.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return api.FormatID(b)
}

// pick returns the positions of the selected nodes.
func (sel *Selection) pick(nodes []*api.Node, rng *rand.Rand) []int {
	var match []int
	for i, n := range nodes {
		if sel.matches(n) {
			match = append(match, i)
		}
	}
	want := len(match)
	if sel.Percent > 0 {
		want = min(want, max(1, int(float64(len(match))*sel.Percent/100+0.5)))
	}
	if sel.Count > 0 {
		want = min(want, sel.Count)
	}
	if want < len(match) {
		rng.Shuffle(len(match), func(i, j int) { match[i], match[j] = match[j], match[i] })
		match = match[:want]
		slices.Sort(match)
	}
	return match
}

func (sel *Selection) matches(n *api.Node) bool {
	for key, glob := range sel.Where {
		if ok, _ := path.Match(glob, property(n, key)); !ok {
			return false
		}
	}
	return true
}

func property(n *api.Node, key string) string {
	switch key {
	case "name":
		return n.Name
	case "datacenter":
		return n.Datacenter
	case "class":
		return n.NodeClass
	case "pool":
		return n.NodePool
	}
	if name, ok := strings.CutPrefix(key, "meta."); ok {
		return n.Meta[name]
	}
	return n.Attributes[strings.TrimPrefix(key, "attr.")]
}
