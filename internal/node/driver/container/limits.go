// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"cmp"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/fingerprint"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// CoreMHz returns the speed of a core, in the unit of the tasks' shares.
func CoreMHz() int64 { return coreMHz() }

// coreMHz is the speed of a core, in the unit of the tasks' shares.
var coreMHz = sync.OnceValue(fingerprint.CoreMHz)

func (d *Driver) limits(t *driver.Task, c *api.ContainerConfig) supervise.Limits {
	r := t.Resources
	hard := cmp.Or(r.MemoryMaxMB, r.MemoryMB)
	if c.MemoryHardMB > 0 {
		hard = c.MemoryHardMB
	}
	l := supervise.Limits{
		CPUShares: r.CPUShares, MemoryBytes: max(hard, 0) << 20, MemoryReserve: cmp.Or(c.MemoryReserve, r.MemoryMB<<20),
		Processes: max(d.cfg.MaxProcesses, 0), Cores: r.Cores,
	}
	if c.PidsLimit > 0 && (l.Processes == 0 || c.PidsLimit < l.Processes) {
		l.Processes = c.PidsLimit
	}
	if speed := coreMHz(); c.CPUHard && speed > 0 && r.CPUShares > 0 {
		l.CPUPeriod = cmp.Or(c.CPUPeriod, 100_000)
		l.CPUQuota = max(r.CPUShares*l.CPUPeriod/speed, 1000) // the least that the kernel accepts
	}
	return l
}
