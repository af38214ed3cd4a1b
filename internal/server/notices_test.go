// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestFollowersLearnOfTheLastWrite has a cluster idle after each write. Followers apply the write
// within milliseconds, although no further entry carries the news that it is committed.
func TestFollowersLearnOfTheLastWrite(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		defer tr.close()
		leader := tr.leader()
		time.Sleep(time.Second) // raft prepares its pipelines
		for i := range 20 {
			if _, err := leader.RegisterJob(t.Context(), &api.RegisterJobRequest{Job: serviceJob(fmt.Sprint("job-", i), 0)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			for id, s := range tr.servers {
				if got, want := s.Store().Index(), leader.Store().Index(); got != want {
					t.Errorf("write %d: %s has applied entry %d, and the leader entry %d", i, id, got, want)
				}
			}
			time.Sleep(time.Second)
		}
	})
}
