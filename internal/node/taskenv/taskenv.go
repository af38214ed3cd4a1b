// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package taskenv works out the environment of a task, and replaces ${...} in
// what a job file leaves for the node to fill in. It does no I/O.
//
// Every variable that Reeve sets exists twice: as NOMAD_X, which job files in
// the wild use, and as REEVE_X.
package taskenv

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Prefixes of the variables that Reeve sets.
const (
	Prefix       = "REEVE_"
	CompatPrefix = "NOMAD_"
)

// Input is all that an environment is made from.
type Input struct {
	Node  *api.Node
	Alloc *api.Allocation // with Job
	Group *api.Group
	Task  *api.Task  // nil for what belongs to the group: its services
	Dir   driver.Dir // where the task sees its directories
	// Isolated tasks have a root of their own, and get nothing of the host's
	// environment.
	Isolated bool
	Host     []string // the agent's environment, KEY=value
	// Launch is what the launch of the task adds. It is taken as it is, and comes
	// before what the job file says of the same variable.
	Launch map[string]string
}

// An Env is a task's environment.
type Env struct {
	vars  map[string]string
	scope map[string]string // what ${...} may name besides vars
}

// Build makes the environment.
func Build(in Input) *Env {
	e := &Env{vars: map[string]string{}, scope: map[string]string{}}
	e.addScope(in)
	e.addBase(in)
	e.addAllocation(in)
	e.addPorts(in.Alloc, in.Task)
	if in.Task != nil {
		e.addTask(in)
	}
	return e
}

// set adds a variable of Reeve's under both prefixes.
func (e *Env) set(name, value string) {
	e.vars[CompatPrefix+name] = value
	e.vars[Prefix+name] = value
}

// Get is a variable's value, "" if it is not set.
func (e *Env) Get(name string) string { return e.vars[name] }

// List is the environment as KEY=value, sorted.
func (e *Env) List() []string {
	list := make([]string, 0, len(e.vars))
	for _, k := range slices.Sorted(maps.Keys(e.vars)) {
		list = append(list, k+"="+e.vars[k])
	}
	return list
}

func (e *Env) addScope(in Input) {
	if n := in.Node; n != nil {
		e.scope["node.unique.id"] = n.ID
		e.scope["node.unique.name"] = n.Name
		e.scope["node.id"] = n.ID
		e.scope["node.name"] = n.Name
		e.scope["node.datacenter"] = n.Datacenter
		e.scope["node.class"] = n.NodeClass
		e.scope["node.pool"] = n.NodePool
		for k, v := range n.Attributes {
			e.scope["attr."+k] = v
		}
		for k, v := range n.Meta {
			e.scope["meta."+k] = v
		}
	}
	if j := in.Alloc.Job; j != nil {
		e.scope["node.region"] = j.Region
		task := ""
		if in.Task != nil {
			task = in.Task.Name
		}
		e.scope["JOB"] = j.Name
		e.scope["GROUP"] = in.Group.Name
		e.scope["TASKGROUP"] = in.Group.Name
		e.scope["TASK"] = task
		e.scope["BASE"] = strings.TrimSuffix(j.Name+"-"+in.Group.Name+"-"+task, "-")
	}
}

// defaultPath is where isolated tasks find programs.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// fromHost are the host's variables that a task which is not isolated gets.
var fromHost = []string{"PATH", "LANG", "LANGUAGE", "TZ", "HOME", "USER", "LOGNAME", "SHELL"}

func (e *Env) addBase(in Input) {
	e.vars["PATH"] = defaultPath
	for _, kv := range in.Host {
		k, v, _ := strings.Cut(kv, "=")
		switch {
		case k == "LANG" || k == "TZ" || strings.HasPrefix(k, "LC_"):
			e.vars[k] = v
		case !in.Isolated && slices.Contains(fromHost, k):
			if in.Task != nil && in.Task.User != "" && (k == "HOME" || k == "USER" || k == "LOGNAME" || k == "SHELL") {
				continue // they are the agent's, not the task's user's
			}
			e.vars[k] = v
		}
	}
	if in.Task == nil {
		return
	}
	if in.Isolated {
		e.vars["HOME"] = in.Dir.Local
	}
	e.vars["TMPDIR"] = in.Dir.Tmp
	e.set("ALLOC_DIR", in.Dir.Alloc)
	e.set("TASK_DIR", in.Dir.Local)
	e.set("SECRETS_DIR", in.Dir.Secrets)
}

func (e *Env) addAllocation(in Input) {
	a, j := in.Alloc, in.Alloc.Job
	e.set("ALLOC_ID", a.ID)
	e.set("SHORT_ALLOC_ID", api.ShortID(a.ID))
	e.set("ALLOC_NAME", a.Name)
	if i := a.Index(); i >= 0 {
		e.set("ALLOC_INDEX", strconv.Itoa(i))
	}
	e.set("GROUP_NAME", in.Group.Name)
	e.set("NAMESPACE", a.Namespace)
	e.set("JOB_ID", a.JobID)
	if j != nil {
		e.set("JOB_NAME", j.Name)
		e.set("REGION", j.Region)
		if j.ParentID != "" {
			e.set("JOB_PARENT_ID", j.ParentID)
		}
		for k, v := range j.MetaFor(in.Group, in.Task) {
			e.set("META_"+cleanName(k), v)
			e.set("META_"+cleanName(strings.ToUpper(k)), v)
		}
	}
	if in.Node != nil {
		e.set("DC", in.Node.Datacenter)
		if parent := in.Node.Attributes[api.AttributeCgroupParent]; parent != "" {
			e.set("PARENT_CGROUP", parent)
		}
	}
}

func (e *Env) addTask(in Input) {
	t := in.Task
	e.set("TASK_NAME", t.Name)
	cpu, memory, memoryMax := limits(in.Alloc, t)
	if cpu > 0 {
		e.set("CPU_LIMIT", strconv.FormatInt(cpu, 10))
	}
	if memory > 0 {
		e.set("MEMORY_LIMIT", strconv.FormatInt(memory, 10))
	}
	if memoryMax > 0 {
		e.set("MEMORY_MAX_LIMIT", strconv.FormatInt(memoryMax, 10))
	}
	if held := heldBy(in.Alloc, t); held != nil {
		if len(held.CPU.ReservedCores) > 0 {
			e.set("CPU_CORES", api.FormatCores(held.CPU.ReservedCores))
		}
		e.addDevices(held.Devices)
	}
	// What the user wrote comes last: it may replace anything, and may refer to
	// what was set before and, in the order of their names, to each other.
	maps.Copy(e.vars, in.Launch)
	for _, k := range slices.Sorted(maps.Keys(t.Env)) {
		if _, given := in.Launch[k]; !given {
			e.vars[e.Replace(k)] = e.Replace(t.Env[k])
		}
	}
}

// addDevices names the devices that the task was given: by type, by vendor and
// type, and in full.
func (e *Env) addDevices(devices []*api.AllocatedDevice) {
	ids := map[string][]string{}
	for _, d := range devices {
		for _, name := range []string{d.Type, d.Vendor + "_" + d.Type, d.Vendor + "_" + d.Type + "_" + d.Name} {
			ids[cleanName(name)] = append(ids[cleanName(name)], d.DeviceIDs...)
		}
	}
	for name, list := range ids {
		e.set("DEVICE_"+name, strings.Join(list, ","))
	}
}

// heldBy is what the allocation holds for the task; nil if nothing is known.
func heldBy(a *api.Allocation, t *api.Task) *api.AllocatedTask {
	if a.AllocatedResources == nil || t == nil {
		return nil
	}
	return a.AllocatedResources.Tasks[t.Name]
}

// limits are the task's cpu (MHz), memory and maximal memory (MB).
func limits(a *api.Allocation, t *api.Task) (cpu, memory, memoryMax int64) {
	if own := heldBy(a, t); own != nil {
		return own.CPU.CPUShares, own.Memory.MemoryMB, own.Memory.MemoryMaxMB
	}
	if r := t.Resources; r != nil {
		if r.CPU != nil {
			cpu = int64(*r.CPU)
		}
		if r.MemoryMB != nil {
			memory = int64(*r.MemoryMB)
		}
		if r.MemoryMaxMB != nil {
			memoryMax = int64(*r.MemoryMaxMB)
		}
	}
	return cpu, memory, memoryMax
}

// Limits bound a task as it was placed.
func Limits(a *api.Allocation, t *api.Task) driver.Limits {
	cpu, memory, memoryMax := limits(a, t)
	l := driver.Limits{CPUShares: cpu, MemoryMB: memory, MemoryMaxMB: memoryMax}
	if held := heldBy(a, t); held != nil {
		l.Cores = api.FormatCores(held.CPU.ReservedCores)
	}
	return l
}

func (e *Env) addPorts(a *api.Allocation, t *api.Task) {
	for _, p := range Ports(a, t) {
		inside := p.Value
		if p.To > 0 {
			inside = p.To
		}
		port, host := strconv.Itoa(inside), strconv.Itoa(p.Value)
		for _, label := range slices.Compact([]string{p.Label, cleanName(p.Label)}) {
			e.set("PORT_"+label, port)
			e.set("IP_"+label, p.HostIP)
			e.set("ADDR_"+label, net.JoinHostPort(p.HostIP, port))
			e.set("ALLOC_PORT_"+label, port)
			e.set("HOST_PORT_"+label, host)
			e.set("HOST_IP_"+label, p.HostIP)
			e.set("HOST_ADDR_"+label, net.JoinHostPort(p.HostIP, host))
		}
	}
}

// Ports lists the ports that a task may use: its group's, and its own.
func Ports(a *api.Allocation, t *api.Task) []api.PortMapping {
	r := a.AllocatedResources
	if r == nil {
		return nil
	}
	ports := slices.Clone(r.Shared.Ports)
	add := func(networks []*api.Network) {
		for _, n := range networks {
			for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
				known := slices.ContainsFunc(ports, func(q api.PortMapping) bool { return q.Label == p.Label })
				if !known {
					ports = append(ports, api.PortMapping{Label: p.Label, Value: p.Value, To: p.To, HostIP: n.IP})
				}
			}
		}
	}
	add(r.Shared.Networks)
	if t != nil && r.Tasks[t.Name] != nil {
		add(r.Tasks[t.Name].Networks)
	}
	return ports
}

// cleanName makes a name that a shell can use.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
