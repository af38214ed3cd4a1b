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
	if cpu, ok := group.CPUTime(); ok {
		s.CPUTime = cpu
	}
	if bytes, ok := group.Memory(); ok {
		s.RSSBytes = bytes
	}
	return s, nil
}
