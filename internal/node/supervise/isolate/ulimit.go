// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

var ulimits = map[string]int{
	"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE,
	"locks": unix.RLIMIT_LOCKS, "memlock": unix.RLIMIT_MEMLOCK, "msgqueue": unix.RLIMIT_MSGQUEUE, "nice": unix.RLIMIT_NICE,
	"nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC, "rtprio": unix.RLIMIT_RTPRIO, "rttime": unix.RLIMIT_RTTIME,
	"sigpending": unix.RLIMIT_SIGPENDING, "stack": unix.RLIMIT_STACK,
}

// A Ulimit is one resource limit of a task's processes. math.MaxUint64 means unlimited.
type Ulimit struct {
	Name       string // such as nofile
	Soft, Hard uint64
}

// Check returns an error if a process with the given capabilities and the hard limits of this one cannot set the
// limit.
func (l Ulimit) Check(capabilities []string) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(ulimits[l.Name], &now); err == nil && l.Hard > now.Max && !slices.Contains(capabilities, "CAP_SYS_RESOURCE") {
		return fmt.Errorf("ulimit %s = %s is above the hard limit of the node's agent, %s: set a lower one in the job, or raise the agent's, such as by Limit%s= in its systemd unit", l.Name, amount(l.Hard), amount(now.Max), strings.ToUpper(l.Name))
	}
	return nil
}

func amount(limit uint64) string {
	if limit == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(limit, 10)
}

// setUlimits must be the last step before the command is executed, because a limit could
// break any later step.
func setUlimits(limits []Ulimit) error {
	for _, l := range limits {
		err := unix.Setrlimit(ulimits[l.Name], &unix.Rlimit{Cur: l.Soft, Max: l.Hard})
		if errors.Is(err, unix.EPERM) {
			var now unix.Rlimit
			_ = unix.Getrlimit(ulimits[l.Name], &now) // on failure the message contains 0
			return fmt.Errorf("ulimit %s = %d is above the hard limit of this machine, %d", l.Name, l.Hard, now.Max)
		}
		if err != nil {
			return fmt.Errorf("ulimit %s: %w", l.Name, err)
		}
	}
	return nil
}
