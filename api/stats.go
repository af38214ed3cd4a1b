// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// AllocationStats holds an allocation's current usage, by task and in total.
type AllocationStats struct {
	ResourceUsage *ResourceUsage
	Tasks         map[string]*TaskStats
	Timestamp     int64 // Unix nanoseconds
}

// TaskStats holds one task's current usage.
type TaskStats struct {
	ResourceUsage *ResourceUsage
	Timestamp     int64 // Unix nanoseconds
	Pids          map[string]*ResourceUsage
}

// ResourceUsage holds the used memory and CPU.
type ResourceUsage struct {
	MemoryStats *MemoryStats
	CPUStats    *CPUStats `json:"CpuStats"`
}

// MemoryStats holds the used memory, in bytes.
type MemoryStats struct {
	RSS            uint64
	Cache          uint64
	Swap           uint64
	Usage          uint64
	MaxUsage       uint64
	KernelUsage    uint64
	KernelMaxUsage uint64
	Measured       []string // names of the meaningful fields
}

// CPUStats holds the used CPU.
type CPUStats struct {
	SystemMode       float64 // percent of one CPU
	UserMode         float64
	TotalTicks       float64 // MHz
	ThrottledPeriods uint64
	ThrottledTime    uint64
	Percent          float64
	Measured         []string
}

// HostStats holds the current usage of a node's machine.
type HostStats struct {
	Memory           *HostMemoryStats
	CPU              []*HostCPUStats
	DiskStats        []*HostDiskStats
	AllocDirStats    *HostDiskStats
	Uptime           uint64  // seconds
	CPUTicksConsumed float64 // MHz, over all cores
	Timestamp        int64   // Unix nanoseconds
}

// HostMemoryStats holds a machine's memory, in bytes.
type HostMemoryStats struct {
	Total     uint64
	Available uint64
	Used      uint64
	Free      uint64
}

// HostCPUStats holds one core's time, in percent.
type HostCPUStats struct {
	CPU          string
	User         float64
	System       float64
	Idle         float64
	TotalPercent float64 // all but idle
	TotalTicks   float64 // the same in MHz
}

// HostDiskStats holds the space of one file system, in bytes.
type HostDiskStats struct {
	Device            string
	Mountpoint        string
	Size              uint64
	Used              uint64
	Available         uint64
	UsedPercent       float64
	InodesUsedPercent float64
}
