// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// start opens a replica on dir and waits until it leads.
func start(t testing.TB, config Config) (*Replica, *state.Store) {
	t.Helper()
	if config.Store == nil {
		config.Store = state.New()
	}
	r, err := Open(config)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { r.Close() })
	awaitLeader(t, r)
	return r, config.Store
}

func awaitLeader(t testing.TB, r *Replica) {
	t.Helper()
	select {
	case reign := <-r.LeaderCh():
		if reign == 0 {
			t.Fatal("the only server does not lead")
		}
	case <-wait.Limit(t, 10*time.Second):
		t.Fatal("no leader after 10 s")
	}
}

func job(id string) *api.Job {
	count := 1
	return &api.Job{
		Namespace: api.DefaultNamespace, ID: id, Name: id, Type: api.JobTypeService, Priority: 50,
		Groups: []*api.Group{{Name: "web", Count: &count, Tasks: []*api.Task{{Name: "server", Driver: "mock"}}}},
	}
}

func register(id string) *state.RegisterJob {
	return &state.RegisterJob{Job: job(id), Evaluation: &api.Evaluation{
		ID: api.NewID(), Namespace: api.DefaultNamespace, JobID: id, Type: api.JobTypeService,
		Status: api.EvalStatusPending, TriggeredBy: api.TriggerJobRegister,
	}}
}

func TestRestartKeepsWhatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir})
	for i := range 20 {
		if i == 10 {
			if err := r.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Propose(context.Background(), register(fmt.Sprintf("job-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, store := start(t, Config{Dir: dir})
	for i := range 20 {
		if store.Snapshot().Job(api.DefaultNamespace, fmt.Sprintf("job-%d", i)) == nil {
			t.Errorf("job-%d is gone after the restart", i)
		}
	}
}

func BenchmarkReplicaStart(b *testing.B) {
	for range b.N {
		r, _ := start(b, Config{Dir: b.TempDir()})
		r.Close()
	}
}
