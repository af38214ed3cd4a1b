// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Usage is an amount of the resources that placement counts. Worker, applier
// and agent all account with it, so that they cannot disagree.
type Usage struct {
	CPU      int64 // MHz
	MemoryMB int64
	DiskMB   int64
}

// maxAmount bounds each amount that is counted, in whatever unit: no sum of the
// amounts of a node's allocations overflows, nor does a share of one. Jobs may
// not ask for so much; what was stored before they were checked may.
const maxAmount = 1 << 40

// amount is a number of MHz or MB as it is counted.
func amount[T int | int64 | uint64](n T) int64 {
	if n < 0 {
		return 0
	}
	return int64(min(uint64(n), maxAmount))
}

// Add returns u and v together.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.CPU + v.CPU, u.MemoryMB + v.MemoryMB, u.DiskMB + v.DiskMB}
}

// Sub returns u without v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.CPU - v.CPU, u.MemoryMB - v.MemoryMB, u.DiskMB - v.DiskMB}
}

// Fits reports whether u is within capacity c in every dimension; if not, it
// names the first one that is not: "cpu", "memory" or "disk".
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

// Capacity is what the node has for allocations: all it has less what it keeps
// for itself.
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

// Usage is what the allocation holds on its node, whatever its state: ask
// HoldsResources whether it still does.
func (a *Allocation) Usage() Usage {
	u, _ := a.Holding()
	return u
}

// Holding is Usage, and whether tasks hold something else, too: cores, devices
// or networks of their own.
func (a *Allocation) Holding() (u Usage, more bool) {
	if a.AllocatedResources == nil {
		return Usage{}, false
	}
	u.DiskMB = amount(a.AllocatedResources.Shared.DiskMB)
	for _, t := range a.AllocatedResources.Tasks {
		u.CPU += amount(t.CPU.CPUShares)
		u.MemoryMB += amount(t.Memory.MemoryMB)
		more = more || len(t.CPU.ReservedCores)+len(t.Devices)+len(t.Networks) > 0
	}
	return u, more
}

// Usage is what one instance of the group asks for. Tasks count together,
// whichever lifecycle they have.
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
	}
	return u
}
