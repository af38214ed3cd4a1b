// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package taskenv computes the environment of a task, and replaces ${...} in the parts of a
// job file that the node completes. It does no I/O.
//
// Every variable that Reeve sets exists twice: as NOMAD_X, for existing job files, and as
// REEVE_X. The variables of stacks exist only as REEVE_X.
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
	prefix       = "REEVE_"
	compatPrefix = "NOMAD_"
)

// Input holds the inputs of an environment.
type Input struct {
	Node  *api.Node
	Alloc *api.Allocation // with Job
	Group *api.Group
	Task  *api.Task  // nil for the group, which has services
	Dir   driver.Dir // the directories at the task's paths
	// Isolated reports whether the task has its own root. Isolated tasks inherit no variables
	// from the host.
	Isolated bool
	Host     []string // the agent's environment, KEY=value
	// Launch holds the variables of the task's launch. They are not interpolated, and
	// override those of the job file.
	Launch  map[string]string
	Traffic Traffic
}

// An Env is a task's environment.
type Env struct {
	vars  map[string]string
	scope map[string]string // values of ${...} besides vars
}

// Build builds the environment.
func Build(in Input) *Env {
	e := &Env{vars: map[string]string{}, scope: map[string]string{}}
	e.addScope(in)
	e.addBase(in)
	e.addAllocation(in)
	e.addPorts(in.Alloc, in.Group, in.Task)
	e.addStack(in)
	if in.Task != nil {
		e.addTask(in)
	}
	return e
}

// set sets a variable under both prefixes.
func (e *Env) set(name, value string) {
	e.vars[compatPrefix+name] = value
	e.vars[prefix+name] = value
}

// Get returns a variable's value; "" if it is not set.
func (e *Env) Get(name string) string { return e.vars[name] }

// Lookup returns a variable, or an attribute of the node such as node.unique.id.
func (e *Env) Lookup(name string) (string, bool) {
	if v, ok := e.vars[name]; ok {
		return v, true
	}
	v, ok := e.scope[name]
	return v, ok
}

// Add sets further variables, over those of the same names.
func (e *Env) Add(vars map[string]string) { maps.Copy(e.vars, vars) }

// List returns the environment as KEY=value, sorted.
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

// defaultPath is the PATH of isolated tasks.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// fromHost lists the host's variables that tasks without isolation inherit.
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
				continue // they belong to the agent's user
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
	if in.Task != nil && in.Task.UsesAPI() {
		e.set("UNIX_ADDR", "unix://"+in.Dir.Secrets+"/api.sock")
	}
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
	// The user's variables come last: they may replace any other, and may refer to earlier
	// ones and, in alphabetical order, to each other.
	maps.Copy(e.vars, in.Launch)
	for _, k := range slices.Sorted(maps.Keys(t.Env)) {
		if _, given := in.Launch[k]; !given {
			e.vars[e.Replace(k)] = e.Replace(t.Env[k])
		}
	}
}

// addDevices sets the ids of the task's devices: by type, by vendor and type, and by full
// name.
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

// heldBy returns the allocation's resources of the task; nil if unknown.
func heldBy(a *api.Allocation, t *api.Task) *api.AllocatedTask {
	if a.AllocatedResources == nil || t == nil {
		return nil
	}
	return a.AllocatedResources.Tasks[t.Name]
}

// limits returns the task's cpu (MHz), memory and maximum memory (MB).
func limits(a *api.Allocation, t *api.Task) (cpu, memory, memoryMax int64) {
	if own := heldBy(a, t); own != nil {
		return own.CPU.CPUShares, own.Memory.MemoryMB, own.Memory.MemoryMaxMB
	}
	if r := t.Resources; r != nil {
		if r.CPU != nil {
			cpu = int64(*r.CPU)
		}
		mb, most := r.Memory()
		memory, memoryMax = int64(mb), int64(most)
	}
	return cpu, memory, memoryMax
}

// Limits returns the resource limits of a placed task.
func Limits(a *api.Allocation, t *api.Task) driver.Limits {
	cpu, memory, memoryMax := limits(a, t)
	l := driver.Limits{CPUShares: cpu, MemoryMB: memory, MemoryMaxMB: memoryMax}
	if held := heldBy(a, t); held != nil {
		l.Cores = api.FormatCores(held.CPU.ReservedCores)
	}
	return l
}

func (e *Env) addPorts(a *api.Allocation, g *api.Group, t *api.Task) {
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
			if n := a.NetworkStatus; n != nil && n.Address != "" && (g == nil || g.LeadsInside(p.Label)) {
				e.set("ADDR_"+label, net.JoinHostPort(p.HostIP, host))
				e.set("ALLOC_IP_"+label, n.Address)
				e.set("ALLOC_ADDR_"+label, net.JoinHostPort(n.Address, port))
				e.set("ALLOC_INTERFACE_"+label, n.InterfaceName)
			}
		}
	}
}

// Ports returns the ports that a task may use: its group's, and its own.
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

// cleanName converts a name into one that a shell accepts.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
