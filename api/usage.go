// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Usage is an amount of the resources that placement counts. Worker, applier and agent all
// account with it, so that they agree.
type Usage struct {
	CPU      int64 // MHz
	MemoryMB int64
	DiskMB   int64
}

// maxAmount bounds each counted amount, in any unit, so that neither sums of the amounts
// of a node's allocations nor shares of them overflow. Validation rejects larger amounts
// in jobs, but jobs stored before that validation may have them.
const maxAmount = 1 << 40

// amount converts a number of MHz or MB to the counted amount, from 0 to maxAmount.
func amount[T int | int64 | uint64](n T) int64 {
	if n < 0 {
		return 0
	}
	return int64(min(uint64(n), maxAmount))
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.CPU + v.CPU, u.MemoryMB + v.MemoryMB, u.DiskMB + v.DiskMB}
}

// Sub returns u minus v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.CPU - v.CPU, u.MemoryMB - v.MemoryMB, u.DiskMB - v.DiskMB}
}

// Fits reports whether u is within capacity c in every dimension. If not, it names the
// first exceeded dimension: "cpu", "memory" or "disk".
func (u Usage) Fits(c Usage) (string, bool) {
	switch {
	case u.CPU > c.CPU:
		return "cpu", false
	case u.MemoryMB > c.MemoryMB:
		return "memory", false
	case u.DiskMB > c.DiskMB:
		return "disk", false
	}
	return "", true
}

// Capacity returns the node's resources for allocations: all of its resources minus its
// reserved ones.
func (n *Node) Capacity() Usage {
	if n.Resources == nil {
		return Usage{}
	}
	u := Usage{amount(n.Resources.CPU.CPUShares), amount(n.Resources.Memory.MemoryMB), amount(n.Resources.Disk.DiskMB)}
	if r := n.Reserved; r != nil {
		u = u.Sub(Usage{amount(r.CPU.CPUShares), amount(r.Memory.MemoryMB), amount(r.Disk.DiskMB)})
	}
	return u
}

// Usage returns the allocation's resources on its node, in any state. HoldsResources reports
// whether it still holds them.
func (a *Allocation) Usage() Usage {
	u, _ := a.Holding()
	return u
}

// Holding returns Usage, and reports whether tasks also hold cores, devices or networks of
// their own.
func (a *Allocation) Holding() (u Usage, more bool) {
	if a.AllocatedResources == nil {
		return Usage{}, false
	}
	u.DiskMB = amount(a.AllocatedResources.Shared.DiskMB)
	more = len(a.AllocatedResources.Shared.Volumes) > 0
	for _, t := range a.AllocatedResources.Tasks {
		u.CPU += amount(t.CPU.CPUShares)
		u.MemoryMB += amount(t.Memory.MemoryMB)
		more = more || len(t.CPU.ReservedCores)+len(t.Devices)+len(t.Networks) > 0
	}
	return u, more
}

// Usage returns the resources that one instance of the group requests. It adds up all tasks
// of all lifecycles.
func (g *Group) Usage() Usage {
	var u Usage
	if g.EphemeralDisk != nil && g.EphemeralDisk.SizeMB != nil {
		u.DiskMB = amount(*g.EphemeralDisk.SizeMB)
	}
	for _, t := range g.Tasks {
		if t.Resources == nil {
			continue
		}
		if t.Resources.CPU != nil {
			u.CPU += amount(*t.Resources.CPU)
		}
		if t.Resources.MemoryMB != nil {
			u.MemoryMB += amount(*t.Resources.MemoryMB)
		}
		u.MemoryMB += amount(t.SecretsMB())
	}
	return u
}
