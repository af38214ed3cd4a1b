// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
)

// QuotaUse is an amount of the resources that quotas limit.
type QuotaUse struct {
	CPU         int64 // MHz
	Cores       int64
	MemoryMB    int64
	MemoryMaxMB int64
	DiskMB      int64
	Allocations int64
}

// quotaDimensions name the resources that quotas limit, in the order of QuotaAmounts.
var quotaDimensions = [...]struct{ name, field, unit string }{
	{"cpu", "CPU", " MHz"}, {"cores", "Cores", ""}, {"memory", "MemoryMB", " MB"}, {"memory_max", "MemoryMaxMB", " MB"},
	{"disk", "DiskMB", " MB"}, {"allocations", "Allocations", ""},
}

// QuotaAmounts holds a limit per resource; nil: unlimited.
type QuotaAmounts [len(quotaDimensions)]*int

func (r *QuotaResources) amounts() QuotaAmounts {
	return QuotaAmounts{r.CPU, r.Cores, r.MemoryMB, r.MemoryMaxMB, r.DiskMB, r.Allocations}
}

func (p *NodePoolLimit) amounts() QuotaAmounts {
	return QuotaAmounts{p.CPU, p.Cores, p.MemoryMB, p.MemoryMaxMB, p.DiskMB, p.Allocations}
}

func (u QuotaUse) values() [len(quotaDimensions)]int64 {
	return [...]int64{u.CPU, u.Cores, u.MemoryMB, u.MemoryMaxMB, u.DiskMB, u.Allocations}
}

// A QuotaRoom is one of the limits of a quota: that of all node pools or that of one.
type QuotaRoom struct {
	Quota    string
	NodePool string // "": all
	Limits   QuotaAmounts
}

// Rooms returns the limits of the quota.
func (q *Quota) Rooms() (rooms []QuotaRoom) {
	r := q.Resources()
	if r == nil {
		return nil
	}
	rooms = append(rooms, QuotaRoom{Quota: q.Name, Limits: r.amounts()})
	for _, p := range r.NodePools {
		rooms = append(rooms, QuotaRoom{Quota: q.Name, NodePool: p.NodePool, Limits: p.amounts()})
	}
	return rooms
}

// Counts reports whether allocations of jobs of a node pool count against the limits.
func (r *QuotaRoom) Counts(pool string) bool {
	return r.NodePool == "" || r.NodePool == pool || pool == NodePoolAll
}

// QuotaObstacle is a limit that one more allocation would exceed.
type QuotaObstacle struct {
	Quota     string
	NodePool  string // "": all
	Dimension string // "cpu", "cores", "memory", "memory_max", "disk" or "allocations"
	Used      int64
	Asked     int64
	Limit     int64 // negative: nothing is allowed
}

// Obstacles returns the limits that asked, added to used, exceeds. A resource that is not asked for
// exceeds nothing, even if its limit was lowered below the usage.
func (r *QuotaRoom) Obstacles(used, asked QuotaUse) (all []QuotaObstacle) {
	have, want := used.values(), asked.values()
	for i, limit := range r.Limits {
		if limit == nil || *limit == 0 || want[i] <= 0 {
			continue
		}
		if *limit < 0 || have[i]+want[i] > int64(*limit) {
			all = append(all, QuotaObstacle{
				Quota: r.Quota, NodePool: r.NodePool, Dimension: quotaDimensions[i].name,
				Used: have[i], Asked: want[i], Limit: int64(*limit),
			})
		}
	}
	return all
}

// Copies returns how many times asked can be added to used without exceeding a limit, at most most.
func (r *QuotaRoom) Copies(used, asked QuotaUse, most int64) int64 {
	have, want := used.values(), asked.values()
	for i, limit := range r.Limits {
		if limit == nil || *limit == 0 || want[i] <= 0 {
			continue
		}
		most = min(most, max((int64(*limit)-have[i])/want[i], 0))
		if *limit < 0 {
			return 0
		}
	}
	return most
}

// String returns the obstacle in words, without the name of the quota.
func (o QuotaObstacle) String() string {
	pool := ""
	if o.NodePool != "" {
		pool = fmt.Sprintf(" in node pool %q", o.NodePool)
	}
	if o.Limit < 0 {
		return fmt.Sprintf("%s not allowed%s", o.Dimension, pool)
	}
	return fmt.Sprintf("%s exhausted%s (%d used + %d asked > %d%s limit)", o.Dimension, pool, o.Used, o.Asked, o.Limit, o.Unit())
}

// Unit returns the unit of the amounts, with a space in front; "": none.
func (o QuotaObstacle) Unit() string {
	for _, d := range quotaDimensions {
		if d.name == o.Dimension {
			return d.unit
		}
	}
	return ""
}

// Add returns the sum of u and v.
func (u QuotaUse) Add(v QuotaUse) QuotaUse {
	return QuotaUse{
		u.CPU + v.CPU, u.Cores + v.Cores, u.MemoryMB + v.MemoryMB, u.MemoryMaxMB + v.MemoryMaxMB,
		u.DiskMB + v.DiskMB, u.Allocations + v.Allocations,
	}
}

// Sub returns u minus v.
func (u QuotaUse) Sub(v QuotaUse) QuotaUse {
	return QuotaUse{
		u.CPU - v.CPU, u.Cores - v.Cores, u.MemoryMB - v.MemoryMB, u.MemoryMaxMB - v.MemoryMaxMB,
		u.DiskMB - v.DiskMB, u.Allocations - v.Allocations,
	}
}

// Resources returns the amounts in the form of limits.
func (u QuotaUse) Resources() *QuotaResources {
	n := u.values()
	var p [len(n)]*int
	for i := range n {
		v := int(n[i])
		p[i] = &v
	}
	return &QuotaResources{CPU: p[0], Cores: p[1], MemoryMB: p[2], MemoryMaxMB: p[3], DiskMB: p[4], Allocations: p[5]}
}

// PoolLimit returns the amounts in the form of limits of a node pool.
func (u QuotaUse) PoolLimit(pool string) *NodePoolLimit {
	r := u.Resources()
	return &NodePoolLimit{
		NodePool: pool, CPU: r.CPU, Cores: r.Cores, MemoryMB: r.MemoryMB, MemoryMaxMB: r.MemoryMaxMB,
		DiskMB: r.DiskMB, Allocations: r.Allocations,
	}
}

// QuotaUse returns what one instance of the group uses of quotas: what its tasks ask for.
func (g *Group) QuotaUse() QuotaUse {
	u := QuotaUse{Allocations: 1}
	if g.EphemeralDisk != nil && g.EphemeralDisk.SizeMB != nil {
		u.DiskMB = amount(*g.EphemeralDisk.SizeMB)
	}
	for _, t := range g.Tasks {
		if r := t.Resources; r != nil {
			u = u.Add(r.quotaUse())
		}
		u = u.bounded() // after each: a hostile job has many tasks
	}
	return u
}

func (r *Resources) quotaUse() (u QuotaUse) {
	if r.Cores != nil && *r.Cores > 0 {
		u.Cores = amount(*r.Cores)
	} else if r.CPU != nil {
		u.CPU = amount(*r.CPU)
	}
	if r.MemoryMB != nil {
		u.MemoryMB = amount(*r.MemoryMB)
	}
	u.MemoryMB += amount(r.secretsMB())
	u.MemoryMaxMB = u.MemoryMB
	if r.MemoryMaxMB != nil {
		u.MemoryMaxMB = max(u.MemoryMaxMB, amount(*r.MemoryMaxMB)+amount(r.secretsMB()))
		if *r.MemoryMaxMB == MemoryUnlimited {
			u.MemoryMaxMB = MaxQuotaAmount + 1
		}
	}
	return u
}

// bounded returns the amounts, each at most one above the greatest limit.
func (u QuotaUse) bounded() QuotaUse {
	const most = MaxQuotaAmount + 1
	return QuotaUse{
		min(u.CPU, most), min(u.Cores, most), min(u.MemoryMB, most), min(u.MemoryMaxMB, most), min(u.DiskMB, most),
		min(u.Allocations, most),
	}
}

// QuotaUse returns what the allocation uses of quotas, and the node pool of its job. It is zero for
// an allocation that has stopped or is to stop.
func (a *Allocation) QuotaUse() (u QuotaUse, pool string) {
	if a.IsTerminal() {
		return QuotaUse{}, ""
	}
	return a.QuotaNeed()
}

// QuotaNeed is QuotaUse for an allocation in any state.
func (a *Allocation) QuotaNeed() (u QuotaUse, pool string) {
	pool = NodePoolDefault
	if a.Job != nil {
		if a.Job.NodePool != "" {
			pool = a.Job.NodePool
		}
		if g := a.Job.Group(a.Group); g != nil {
			return g.QuotaUse(), pool
		}
	}
	u.Allocations = 1 // of an unknown job: as the node reports it
	if r := a.AllocatedResources; r != nil {
		u.DiskMB = amount(r.Shared.DiskMB)
		for _, t := range r.Tasks {
			if t == nil {
				continue
			}
			n := QuotaUse{MemoryMB: amount(t.Memory.MemoryMB), Cores: int64(len(t.CPU.ReservedCores))}
			if n.Cores == 0 {
				n.CPU = amount(t.CPU.CPUShares)
			}
			n.MemoryMaxMB = max(n.MemoryMB, amount(t.Memory.MemoryMaxMB))
			u = u.Add(n).bounded()
		}
	}
	return u.bounded(), pool
}

// A QuotaDimension is one resource of a quota, with its usage.
type QuotaDimension struct {
	Name  string // "cpu", "cores", "memory", "memory_max", "disk" or "allocations"
	Unit  string // with a space in front; "": none
	Used  int64
	Limit int64 // 0: unlimited; negative: nothing is allowed
}

// Dimensions returns the resources of the quota in a fixed order.
func (r *QuotaRoom) Dimensions(used QuotaUse) []QuotaDimension {
	have := used.values()
	all := make([]QuotaDimension, len(have))
	for i, d := range quotaDimensions {
		all[i] = QuotaDimension{Name: d.name, Unit: d.unit, Used: have[i]}
		if limit := r.Limits[i]; limit != nil {
			all[i].Limit = int64(*limit)
		}
	}
	return all
}

// In returns what counts against the limits of a node pool; "": of all.
func (u *QuotaUsage) In(pool string) (use QuotaUse) {
	for _, l := range u.Used {
		if l == nil || l.RegionLimit == nil {
			continue
		}
		if pool == "" {
			return l.RegionLimit.amounts().use()
		}
		for _, p := range l.RegionLimit.NodePools {
			if p.NodePool == pool {
				return p.amounts().use()
			}
		}
	}
	return QuotaUse{}
}

func (a QuotaAmounts) use() QuotaUse {
	var n [len(a)]int64
	for i, v := range a {
		if v != nil {
			n[i] = int64(*v)
		}
	}
	return QuotaUse{n[0], n[1], n[2], n[3], n[4], n[5]}
}

// Text returns the obstacle in words, with the name of the quota. QuotaInText finds the name.
func (o QuotaObstacle) Text() string { return fmt.Sprintf("quota %q: %s", o.Quota, o) }

// QuotaInText returns the name of the quota in the text of an obstacle; "" if it has none.
func QuotaInText(text string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, `quota "`), `"`)
	if !IsQuotaName(name) || !strings.HasPrefix(text, `quota "`) {
		return ""
	}
	return name
}

// Times returns n times the amount.
func (u QuotaUse) Times(n int64) QuotaUse {
	return QuotaUse{u.CPU * n, u.Cores * n, u.MemoryMB * n, u.MemoryMaxMB * n, u.DiskMB * n, u.Allocations * n}
}
