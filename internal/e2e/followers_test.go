// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestFollowersPlace has a leader without workers. The other servers compute its evaluations over
// TLS, and the jobs run.
func TestFollowersPlace(t *testing.T) {
	m := newMembers(t, 3)
	m.all[0].Args = append(m.all[0].Args, "-config", writeConfig(t, "server {\n  num_schedulers = 0\n}\n"))
	m.form()
	for i := range 4 {
		m.all[i%3].register(sleeper(fmt.Sprint("web-", i), 2))
	}
	leader := m.leader(m.all[0])
	leader.eventually("all instances run", func(ctx context.Context) error {
		list, _, err := leader.Client.Allocations().List(ctx, nil)
		if err != nil {
			return err
		}
		running := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning {
				running++
			}
		}
		if running != 8 {
			return fmt.Errorf("%d instances run, want 8", running)
		}
		return nil
	})
	leader.eventually("the leader knows who computed", func(ctx context.Context) error {
		servers, err := leader.Client.Servers().List(ctx)
		if err != nil {
			return err
		}
		others := uint64(0)
		for _, s := range servers {
			if s.Leader && s.Evaluations > 0 {
				t.Fatalf("the leader computed %d evaluations without workers", s.Evaluations)
			}
			others += s.Evaluations
		}
		if others < 4 {
			return fmt.Errorf("the followers computed %d evaluations, want at least 4", others)
		}
		return nil
	})
}
