// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// AllocationStats is what an allocation uses now, by task and in sum.
type AllocationStats struct {
	ResourceUsage *ResourceUsage
	Tasks         map[string]*TaskStats
	Timestamp     int64 // Unix nanoseconds
}

// TaskStats is what one task uses now.
type TaskStats struct {
	ResourceUsage *ResourceUsage
	Timestamp     int64 // Unix nanoseconds
	Pids          map[string]*ResourceUsage
}

// ResourceUsage is memory and CPU in use.
type ResourceUsage struct {
	MemoryStats *MemoryStats
	CPUStats    *CPUStats `json:"CpuStats"`
}

// MemoryStats is memory in use, in bytes.
type MemoryStats struct {
	RSS            uint64
	Cache          uint64
	Swap           uint64
	Usage          uint64
	MaxUsage       uint64
	KernelUsage    uint64
	KernelMaxUsage uint64
	Measured       []string // which of the fields mean something
}

// CPUStats is CPU in use.
type CPUStats struct {
	SystemMode       float64 // percent of one CPU
	UserMode         float64
	TotalTicks       float64 // MHz
	ThrottledPeriods uint64
	ThrottledTime    uint64
	Percent          float64
	Measured         []string
}

// HostStats is what a node's machine uses now.
type HostStats struct {
	Memory           *HostMemoryStats
	CPU              []*HostCPUStats
	DiskStats        []*HostDiskStats
	AllocDirStats    *HostDiskStats
	Uptime           uint64  // seconds
	CPUTicksConsumed float64 // MHz, over all cores
	Timestamp        int64   // Unix nanoseconds
}

// HostMemoryStats is a machine's memory, in bytes.
type HostMemoryStats struct {
	Total     uint64
	Available uint64
	Used      uint64
	Free      uint64
}

// HostCPUStats is one core's time, in percent.
type HostCPUStats struct {
	CPU          string
	User         float64
	System       float64
	Idle         float64
	TotalPercent float64 // all but idle
	TotalTicks   float64 // the same in MHz
}

// HostDiskStats is one file system, in bytes.
type HostDiskStats struct {
	Device            string
	Mountpoint        string
	Size              uint64
	Used              uint64
	Available         uint64
	UsedPercent       float64
	InodesUsedPercent float64
}
