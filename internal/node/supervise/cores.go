// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// coreSet parses a list of cores; it returns nil for "".
func coreSet(list string) (*unix.CPUSet, error) {
	ids, err := api.ParseCores(list)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	set := new(unix.CPUSet)
	for _, id := range ids {
		set.Set(int(id))
	}
	return set, nil
}

// coresOf returns the cores that a process may run on; nil if unknown. Children inherit them,
// so commands beside a task run on the task's cores.
func coresOf(pid int) *unix.CPUSet {
	set := new(unix.CPUSet)
	if pid <= 0 || unix.SchedGetaffinity(pid, set) != nil {
		return nil
	}
	own := new(unix.CPUSet)
	if unix.SchedGetaffinity(0, own) == nil && *own == *set {
		return nil
	}
	return set
}
