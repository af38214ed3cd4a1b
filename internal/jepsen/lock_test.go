// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// grasp returns an operation on a lock, with times in seconds.
func grasp(call, returned int, kind, id string, index uint64, result string) operation {
	o := at(time.Duration(call)*time.Second, time.Duration(returned)*time.Second, kind, id, 0, index, result)
	o.Register = lockPrefix + "0"
	return o
}

func TestHistoriesThatALockCanAndCannotHave(t *testing.T) {
	taken := grasp(1, 2, opAcquire, "a", 5, resultOK)
	released := grasp(3, 4, opRelease, "a", 6, resultOK)
	lost := grasp(1, 2, opAcquire, "", 0, resultUnknown)
	for name, c := range map[string]struct {
		legal      bool
		operations []operation
	}{
		"one holder after the other":                  {true, []operation{taken, released, grasp(5, 6, opAcquire, "b", 7, resultOK)}},
		"two holders":                                 {false, []operation{taken, grasp(3, 4, opAcquire, "b", 7, resultOK)}},
		"a holder within the time of another":         {false, []operation{taken, grasp(9, 10, opAcquire, "b", 7, resultOK)}},
		"a holder after the time of another":          {true, []operation{taken, grasp(11, 12, opAcquire, "b", 7, resultOK)}},
		"a holder within the renewed time of another": {false, []operation{taken, grasp(8, 9, opRenew, "a", 0, resultOK), grasp(14, 15, opAcquire, "b", 7, resultOK)}},
		"a fencing number that decreases":             {false, []operation{taken, released, grasp(5, 6, opAcquire, "b", 5, resultOK)}},
		"a fencing number within that of a write":     {false, []operation{taken, grasp(2, 3, opFenced, "a", 9, resultOK), grasp(3, 4, opRelease, "a", 10, resultOK), grasp(5, 6, opAcquire, "b", 8, resultOK)}},
		"a refusal while the lock is held":            {true, []operation{taken, grasp(3, 4, opAcquire, "", 0, resultConflict)}},
		"a refusal while the lock is free":            {false, []operation{taken, released, grasp(5, 6, opAcquire, "", 0, resultConflict)}},
		"a write of a former holder":                  {false, []operation{taken, released, grasp(5, 6, opFenced, "a", 7, resultOK)}},
		"a refused write of the holder":               {false, []operation{taken, grasp(3, 4, opFenced, "a", 0, resultConflict)}},
		"a refused write after the time of the lock":  {true, []operation{taken, grasp(11, 12, opFenced, "a", 0, resultConflict)}},
		"a renewal of a former holder":                {false, []operation{taken, released, grasp(5, 6, opRenew, "a", 0, resultOK)}},
		"an unknown acquisition that blocks":          {true, []operation{lost, grasp(3, 4, opAcquire, "", 0, resultConflict)}},
		"an unknown acquisition without effect":       {true, []operation{lost, grasp(3, 4, opAcquire, "b", 5, resultOK)}},
		"an unknown acquisition that blocks too long": {true, []operation{lost, grasp(30, 31, opAcquire, "", 0, resultConflict)}},
		"an unknown release that took effect":         {true, []operation{taken, grasp(3, 4, opRelease, "a", 0, resultUnknown), grasp(5, 6, opAcquire, "b", 9, resultOK)}},
		"an unknown release without effect":           {true, []operation{taken, grasp(3, 4, opRelease, "a", 0, resultUnknown), grasp(5, 6, opFenced, "a", 9, resultOK)}},
		"a second release":                            {false, []operation{taken, released, grasp(5, 6, opRelease, "a", 7, resultOK)}},
		"a restore of the holder": {true, []operation{
			taken, grasp(2, 3, opSave, "", 0, resultOK), released, grasp(5, 6, opRestore, "", 0, resultOK), grasp(7, 8, opFenced, "a", 9, resultOK),
		}},
		"a holder after the restore of another": {false, []operation{
			taken, grasp(3, 4, opSave, "", 0, resultOK), grasp(5, 6, opRelease, "a", 6, resultOK), grasp(15, 16, opRestore, "", 0, resultOK), grasp(17, 18, opAcquire, "b", 9, resultOK),
		}},
	} {
		want := porcupine.Illegal
		if c.legal {
			want = porcupine.Ok
		}
		if got := linearize(c.operations); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
