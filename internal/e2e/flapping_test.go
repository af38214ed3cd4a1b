// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// flips is what a reader of the event stream makes of instances whose readiness
// comes and goes.
type flips struct {
	mu    sync.Mutex
	last  map[string]*api.Instance
	count int
	wrong []string
}

// hear compares an instance with what was told of it before.
func (f *flips) hear(in *api.Instance, typ string, index uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	complain := func(format string, args ...any) {
		f.wrong = append(f.wrong, fmt.Sprintf("%s at %d: ", in.Name, index)+fmt.Sprintf(format, args...))
	}
	old := f.last[in.Name]
	f.last[in.Name] = in
	switch {
	case typ == api.EventTypeInstanceCrashed || in.State == api.InstanceCrashed || in.CrashCount > 0:
		complain("it crashed: %s", in.CrashReason)
	case in.ModificationTag.Index != index:
		complain("its tag has index %d", in.ModificationTag.Index)
	case old == nil || old.Routable == in.Routable:
	case old.ModificationTag.Epoch != in.ModificationTag.Epoch:
		complain("another allocation took its place")
	case old.ModificationTag.Index >= in.ModificationTag.Index:
		complain("it was told before at %d", old.ModificationTag.Index)
	case old.State == api.InstanceRunning && !in.Since.After(old.Since):
		complain("it flipped, and is since %s what it was not since %s", in.Since, old.Since)
	default:
		f.count++
	}
}

func (f *flips) read(ctx context.Context, c *client.Client) error {
	for b, err := range c.Events().Stream(ctx, client.EventOptions{Topics: map[string][]string{api.TopicInstance: nil}, Snapshot: true}) {
		if err != nil {
			return err
		}
		for _, e := range b.Events {
			if b.Snapshot != "" {
				continue
			}
			text, err := json.Marshal(e.Payload[api.TopicInstance])
			if err != nil {
				return err
			}
			in := new(api.Instance)
			if err := json.Unmarshal(text, in); err != nil {
				return err
			}
			f.hear(in, e.Type, e.Index)
		}
	}
	return nil
}

// Processes that are ready for moments only move traffic, in order, and nothing
// else; when they have calmed down, everybody knows where they stand.
func TestFlappingReadinessOfRealProcesses(t *testing.T) {
	const count, wanted = 12, 100
	w := newWatched(t)
	calm := filepath.Join(t.TempDir(), "calm")
	// Each flips at a pace of its own, many times between two looks of its check.
	job := testbed.ShellJob("shop", count, `n=$(( NOMAD_ALLOC_INDEX * 7 + 20 ))
		while [ ! -e `+calm+` ]; do : > local/ready; sleep 0.0$n; rm local/ready; sleep 0.0$n; done
		: > local/ready; exec sleep 1000`)
	webService(job, &api.Check{Name: "ready", Type: "script", Command: "/bin/sh", Args: []string{"-c", "test -e ${NOMAD_TASK_DIR}/ready"},
		TaskName: "task", Kind: api.CheckKindReadiness, Interval: time.Second, Timeout: 5 * time.Second})
	job.Groups[0].Tasks[0].Services, job.Groups[0].Services = job.Groups[0].Services, nil
	f := &flips{last: map[string]*api.Instance{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.read(ctx, w.Client) }()
	w.register(job)
	w.eventually("their readiness comes and goes", func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.count < wanted && len(f.wrong) == 0 {
			return fmt.Errorf("%d flips were told", f.count)
		}
		return nil
	})
	before := w.pids()
	if err := os.WriteFile(calm, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.everywhere(count)
	w.eventually("the stream has told of the calm", func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		for name, in := range f.last {
			if !in.Routable || in.State != api.InstanceRunning {
				return fmt.Errorf("%s is %s, routable: %t", name, in.State, in.Routable)
			}
		}
		return nil
	})
	cancel()
	<-ended
	for _, wrong := range f.wrong {
		t.Error(wrong)
	}
	if len(f.last) != count {
		t.Errorf("%d instances were told of", len(f.last))
	}
	for _, in := range f.last { // what the stream said last is what there is
		now, _, err := w.Client.Instances().Get(t.Context(), "shop", in.Name, nil)
		if err != nil || now.ModificationTag != in.ModificationTag || !now.Routable {
			t.Errorf("%s is %+v, not %+v: %v", in.Name, now, in, err)
		}
	}
	for _, a := range w.allocations("shop", "run", running(count)) {
		if a.TaskStates["task"].Restarts > 0 {
			t.Errorf("%s was restarted", a.Name)
		}
	}
	if after := w.pids(); !slices.Equal(before, after) {
		t.Errorf("processes %v run, not %v", after, before)
	}
	t.Logf("%d flips of %d instances", f.count, count)
}

// pids are the main processes of the job's tasks.
func (w *watched) pids() (pids []int) {
	w.t.Helper()
	for _, a := range w.allocations("shop", "run", func(all []*api.AllocationListStub) bool { return len(all) > 0 }) {
		var pid int
		for _, e := range a.TaskStates["task"].Events {
			if e.Type == api.EventStarted {
				fmt.Sscanf(e.DisplayMessage, "Runs as process %d", &pid)
			}
		}
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}
