// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// extreme sets every number below a value that users give.
func extreme(v reflect.Value, n int64, within ...reflect.Type) {
	switch {
	case slices.Contains(within, v.Type()):
	case v.CanInt():
		v.SetInt(n >> (64 - v.Type().Bits()))
	case v.CanUint():
		v.SetUint(uint64(max(n, 0)) >> (64 - v.Type().Bits()))
	case v.CanFloat():
		v.SetFloat(float64(n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		extreme(v.Elem(), n, within...)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		for i := range v.Len() {
			extreme(v.Index(i), n, within...)
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				extreme(v.Field(i), n, append(within, v.Type())...)
			}
		}
	}
}

func TestEveryNumberOfAJobIsBounded(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, 1 << 62, math.MinInt64, math.MinInt64 + 1, 1 << 40} {
		job := &Job{}
		extreme(reflect.ValueOf(job).Elem(), n)
		err := job.Validate()
		if err == nil {
			t.Fatalf("a job whose numbers are all %d is valid", n)
		}
		said := err.Error()
		for _, name := range []string{"resources.cpu ", "resources.memory_mb ", "ephemeral_disk.size_mb ", "count ", "kill_timeout ", "logs.max_files ", "priority ", "max_parallel ", "weight "} {
			if n != 1<<40 && !strings.Contains(said, name) {
				t.Errorf("%d: the refusal does not name %q", n, name)
			}
		}
	}
}

// What was stored before jobs were checked is counted without overflow.
func TestSumsDoNotOverflow(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, 1 << 62, math.MinInt64, -1} {
		a := &Allocation{AllocatedResources: &AllocatedResources{Tasks: map[string]*AllocatedTask{}, Shared: AllocatedShared{DiskMB: n}}}
		for _, name := range []string{"a", "b", "c", "d"} {
			a.AllocatedResources.Tasks[name] = &AllocatedTask{CPU: AllocatedCPU{CPUShares: n}, Memory: AllocatedMemory{MemoryMB: n}}
		}
		size := int(n)
		g := &Group{EphemeralDisk: &EphemeralDisk{SizeMB: &size}}
		for range 4 {
			g.Tasks = append(g.Tasks, &Task{Resources: &Resources{CPU: &size, MemoryMB: &size}})
		}
		sum := Usage{}
		for range 100_000 {
			sum = sum.Add(a.Usage()).Add(g.Usage())
		}
		if sum.CPU < 0 || sum.MemoryMB < 0 || sum.DiskMB < 0 || n > 0 && sum.CPU < 1<<50 {
			t.Errorf("amounts of %d add up to %+v", n, sum)
		}
		node := &Node{Resources: &NodeResources{}, Reserved: &NodeReserved{}}
		node.Resources.CPU.CPUShares, node.Resources.CPU.TotalCPUCores, node.Resources.Memory.MemoryMB, node.Resources.Disk.DiskMB = n, 1, n, n
		if c := node.Capacity(); c.CPU < 0 || c.CPU > maxAmount || node.Resources.CPU.PerCore() < 0 {
			t.Errorf("a node of %d has %+v", n, c)
		}
		node.Reserved.CPU.CPUShares, node.Reserved.Memory.MemoryMB = math.MaxUint64, 1<<63
		if c := node.Capacity(); c.CPU < -maxAmount || c.CPU > 0 || c.MemoryMB > 0 {
			t.Errorf("a node that keeps more than there is has %+v", c)
		}
	}
}
