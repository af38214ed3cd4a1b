// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestNewestWordOnHealthCounts(t *testing.T) {
	status := func(healthy bool, at int64) *api.AllocDeploymentStatus {
		return &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: time.Unix(at, 0)}
	}
	for name, c := range map[string]struct {
		stored, reported *api.AllocDeploymentStatus
		want             bool
	}{
		"nothing known": {nil, status(true, 1), true},
		"an operator spoke after the node's finding": {status(false, 2), status(true, 1), false},
		"the node found something else since":        {status(true, 1), status(false, 2), false},
	} {
		a := (&txn{}).mergeUpdate(&api.Allocation{DeploymentStatus: c.stored}, &api.Allocation{DeploymentStatus: c.reported}, 0)
		if *a.DeploymentStatus.Healthy != c.want {
			t.Errorf("%s: healthy is %t; want %t", name, *a.DeploymentStatus.Healthy, c.want)
		}
	}
}
