// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"fmt"
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLimitsAboveThoseOfTheAgentAreExplained(t *testing.T) {
	before := unix.Rlimit{}
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	if before.Max < 1000 {
		t.Fatalf("the hard limit of core files is %d: the test lowers it to 1000", before.Max)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: min(before.Cur, 1000), Max: 1000}); err != nil {
		t.Fatal(err)
	}
	const next = "set a lower one in the job, or raise the agent's, such as by LimitCORE= in its systemd unit"
	for _, c := range []struct {
		hard         uint64
		capabilities []string
		want         string
	}{
		{1000, nil, "<nil>"},
		{1001, nil, "ulimit core = 1001 is above the hard limit of the node's agent, 1000: " + next},
		{math.MaxUint64, nil, "ulimit core = unlimited is above the hard limit of the node's agent, 1000: " + next},
		{1001, []string{"CAP_SYS_RESOURCE"}, "<nil>"},
	} {
		if err := (Ulimit{Name: "core", Soft: 1, Hard: c.hard}).Check(c.capabilities); fmt.Sprint(err) != c.want {
			t.Errorf("%d with %v: %v, want %s", c.hard, c.capabilities, err, c.want)
		}
	}
}
