// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"os"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// Stats measures the task: by its cgroup where the kernel counts, and otherwise by its
// processes.
func (p *Process) Stats(ctx context.Context) (driver.Stats, error) {
	select {
	case <-p.done:
		return driver.Stats{}, ErrTaskEnded
	default:
	}
	st := p.status.Load()
	s := driver.Stats{At: time.Now()}
	group := cgroup.Load(st.Cgroups)
	u := group.Usage()
	s.UserTime, s.SystemTime, s.ThrottledPeriods, s.ThrottledTime = u.User, u.System, u.ThrottledPeriods, u.ThrottledTime
	s.MemoryBytes, s.MaxMemoryBytes, s.CacheBytes, s.SwapBytes, s.KernelBytes = u.Memory, u.MaxMemory, u.Cache, u.Swap, u.Kernel
	if u.HasCPU && u.HasMemory {
		s.CPUTime, s.RSSBytes, s.Processes = u.CPU, u.RSS, len(group.Procs())
		return s, nil
	}
	var procs []procStat
	if group.IsZero() {
		procs, _ = walk(markerOf(p.c.cfg.Dir, st.ID), st.PID, st.StartTime, map[int]uint64{st.PID: st.StartTime})
	} else {
		for _, pid := range group.Procs() {
			if one, err := readStat(pid); err == nil {
				procs = append(procs, one)
			}
		}
	}
	for _, one := range procs {
		s.RSSBytes += one.RSSPages * int64(os.Getpagesize())
		s.CPUTime += time.Duration(one.Ticks) * time.Second / clockTicks
	}
	s.Processes = len(procs)
	if u.HasCPU {
		s.CPUTime = u.CPU
	}
	if u.HasMemory {
		s.RSSBytes = u.RSS
	} else {
		s.MemoryBytes = s.RSSBytes
	}
	return s, nil
}
