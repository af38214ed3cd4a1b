// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
)

func testPins() []*api.ImagePin {
	return []*api.ImagePin{{
		JobID: "web", JobVersion: 2, TaskGroup: "server", Task: "http", Image: "nginx:1.29",
		Digest: "sha256:" + strings.Repeat("0123456789abcdef", 4), Time: clitest.Ago(2 * time.Minute),
	}}
}

func TestPinsOfVersionsThatRun(t *testing.T) {
	pins := []*api.ImagePin{{JobVersion: 4}, {JobVersion: 3}, {JobVersion: 2}, {JobVersion: 4, JobCreateIndex: 9}}
	list := []*api.AllocationListStub{{JobVersion: 3, ClientStatus: api.AllocClientComplete}, {JobVersion: 2, ClientStatus: api.AllocClientRunning}}
	got := CurrentImages(&api.Job{Version: 4}, list, pins)
	if len(got) != 2 || got[0].JobVersion != 4 || got[0].JobCreateIndex != 0 || got[1].JobVersion != 2 {
		t.Errorf("pins: %+v", got)
	}
}
