// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/reeve-run/reeve/internal/cli/clitest"
)

func TestATroubleIsSaidAgainOnlyWhenItChanges(t *testing.T) {
	first := *clitest.Troubles()[0]
	later := first
	later.Message, later.Count, later.At = `task "http": exited with code 1 after 93ms`, 5, clitest.Now
	if TroubleKey(&first) != TroubleKey(&later) {
		t.Errorf("the same trouble, some seconds later, is another one: %q, %q", TroubleKey(&first), TroubleKey(&later))
	}
	other := first
	other.ExitCode = 2
	if TroubleKey(&first) == TroubleKey(&other) {
		t.Error("another exit code is no other trouble")
	}
	version := first
	version.JobVersion++
	if TroubleKey(&first) == TroubleKey(&version) {
		t.Error("the trouble of another version is no other trouble")
	}
}
