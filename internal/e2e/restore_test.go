// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// TestARestoreKeepsRunningTasks restores a snapshot that knows one of two running jobs. Tasks
// of both continue: those of the unknown job as orphans, until the domain is fresh again.
func TestARestoreKeepsRunningTasks(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	follower := m.other(leader)
	follower.put(sleeper("kept", 3))
	before := follower.allocations("kept", "runs", running(3))
	file := follower.save()
	follower.put(sleeper("lost", 1))
	follower.allocations("lost", "runs", running(1))
	tasks := m.tasks()
	if len(tasks) != 4 {
		t.Fatalf("%d tasks run", len(tasks))
	}

	damaged := bytes.Clone(file)
	damaged[len(damaged)/2] ^= 1
	for what, bad := range map[string][]byte{
		"damaged": damaged, "cut short": file[:len(file)-1], "not a snapshot of Reeve": []byte("some other file, long enough for a header"),
	} {
		follower.eventually("a file that is "+what+" is refused", func(ctx context.Context) error {
			_, err := follower.Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(bad))
			if api.CodeOf(err) != api.CodeInvalid || what != "damaged" && !strings.Contains(err.Error(), what) {
				return fmt.Errorf("it is answered with %w", err)
			}
			return nil
		})
	}
	job, _, err := follower.Client.Jobs().Get(t.Context(), "lost", nil)
	if err != nil {
		t.Fatalf("refused files changed the state: %v", err)
	}

	var answer *api.RestoreResponse
	follower.eventually("the snapshot is restored", func(ctx context.Context) (err error) {
		answer, err = follower.Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(file))
		return err
	})
	if answer.Foreign || !slices.Contains(answer.Kept, "certificate authority") || answer.Index <= job.ModifyIndex {
		t.Errorf("the answer is %+v", answer)
	}
	for _, a := range m.all {
		a.eventually("every server has the restored state", func(ctx context.Context) error {
			_, _, kept := a.Client.Jobs().Get(ctx, "kept", &client.QueryOptions{Stale: true})
			_, _, lost := a.Client.Jobs().Get(ctx, "lost", &client.QueryOptions{Stale: true})
			if kept != nil || api.CodeOf(lost) != api.CodeNotFound {
				return fmt.Errorf("kept: %v, lost: %v", kept, lost)
			}
			return nil
		})
	}
	orphans := func(want int) {
		t.Helper()
		follower.eventually(fmt.Sprint(want, " orphans"), func(ctx context.Context) error {
			list, _, err := follower.Client.Domains().Orphans(ctx, nil)
			if err != nil || len(list) != want {
				return fmt.Errorf("orphans %+v: %v", list, err)
			}
			return nil
		})
	}
	orphans(1)
	if fresh := follower.fresh(); len(fresh) != 0 {
		t.Errorf("fresh are %v", fresh)
	}
	if now := m.tasks(); !slices.Equal(now, tasks) {
		t.Errorf("the tasks have the processes %v, and had %v", now, tasks)
	}
	after := follower.allocations("kept", "runs", running(3))
	if ids(before) != ids(after) {
		t.Errorf("the allocations are %s, and were %s", ids(after), ids(before))
	}
	for _, err := range follower.Client.Events().Stream(t.Context(), client.EventOptions{
		Topics: map[string][]string{api.TopicJob: nil}, Index: job.ModifyIndex + 1, Timeline: answer.Snapshot.Timeline,
	}) {
		if api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("a position after the snapshot, on its timeline: %v", err)
		}
		break
	}

	follower.eventually("the domain is marked as fresh", func(ctx context.Context) error {
		_, err := follower.Client.Domains().Mark(ctx, "", &api.DomainRequest{})
		return err
	})
	orphans(0)
	follower.eventually("the orphan ends", func(context.Context) error {
		if n := len(m.tasks()); n != 3 {
			return fmt.Errorf("%d tasks run", n)
		}
		return nil
	})
	follower.put(sleeper("later", 1))
	follower.allocations("later", "runs", running(1))
}

// TestARestoreIsCompleteOrHasNoEffect kills the leader while it restores a snapshot of some
// megabytes. All servers have the previous state afterwards, or all have the restored one.
func TestARestoreIsCompleteOrHasNoEffect(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	rest := m.other(leader)
	padding := make([]byte, 256<<10)
	for i := range 24 {
		if _, err := rand.Read(padding); err != nil {
			t.Fatal(err)
		}
		job := sleeper(fmt.Sprint("restored-", i), 0)
		job.Meta = map[string]string{"padding": hex.EncodeToString(padding)}
		rest.put(job)
	}
	file := rest.save()
	for i := range 24 {
		rest.eventually("the job is purged", func(ctx context.Context) error {
			_, err := rest.Client.Jobs().Deregister(ctx, fmt.Sprint("restored-", i), client.DeregisterOptions{Purge: true})
			if api.CodeOf(err) == api.CodeNotFound {
				return nil
			}
			return err
		})
	}
	rest.put(sleeper("previous", 0))
	written := func(ctx context.Context) (uint64, error) {
		list, err := leader.Client.Servers().List(ctx)
		var newest uint64
		for _, s := range list {
			newest = max(newest, s.LastIndex)
		}
		return newest, err
	}
	leader = m.leader(rest) // a busy machine may have changed it
	rest = m.other(leader)
	var at uint64
	leader.eventually("the leader knows its index", func(ctx context.Context) (err error) {
		at, err = written(ctx)
		return err
	})
	ended := make(chan error, 1)
	go func() {
		_, err := rest.Client.Operator().RestoreSnapshot(t.Context(), bytes.NewReader(file))
		ended <- err
	}()
	leader.eventually("the leader has written parts of the snapshot", func(ctx context.Context) error {
		now, err := written(ctx)
		if err == nil && now < at+4 {
			err = fmt.Errorf("index %d, before %d", now, at)
		}
		return err
	})
	leader.Kill()
	restoreErr := <-ended
	leader.start()
	states := map[string]int{}
	for _, a := range m.all {
		a.eventually("the server answers with the whole state", func(ctx context.Context) error {
			mark := "mark-" + a.Dir[len(a.Dir)-6:]
			if _, err := a.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper(mark, 0)}); err != nil {
				return err
			}
			if _, _, err := a.Client.Jobs().Get(ctx, mark, &client.QueryOptions{Stale: true}); err != nil {
				return err
			}
			list, _, err := a.Client.Jobs().List(ctx, &client.QueryOptions{Stale: true})
			if err != nil {
				return err
			}
			var found []string
			for _, j := range list {
				if !strings.HasPrefix(j.ID, "mark-") {
					found = append(found, j.ID)
				}
			}
			states[strings.Join(slices.Sorted(slices.Values(found)), " ")]++
			return nil
		})
	}
	if len(states) != 1 {
		t.Fatalf("the servers have different states: %v", states)
	}
	for state := range states {
		jobs := strings.Fields(state)
		wasRestored := len(jobs) == 24 && !slices.Contains(jobs, "previous")
		if !wasRestored && !slices.Equal(jobs, []string{"previous"}) || restoreErr == nil && !wasRestored {
			t.Errorf("after the restore ended with %v, the jobs are %v", restoreErr, jobs)
		}
		t.Logf("restored: %t; the request ended with %v", wasRestored, restoreErr)
	}
}

// put registers a job, also while leadership changes.
func (m *machine) put(job *api.Job) {
	m.t.Helper()
	m.eventually("job "+job.ID+" is registered", func(ctx context.Context) error {
		_, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job})
		return err
	})
}

// save returns a snapshot of the state.
func (m *machine) save() (file []byte) {
	m.t.Helper()
	m.eventually("a snapshot is saved", func(ctx context.Context) (err error) {
		file, err = saved(ctx, m)
		return err
	})
	return file
}

// tasks returns the processes of all tasks.
func (m *members) tasks() (pids []int) {
	for _, a := range m.all {
		pids = append(pids, taskProcesses(a)...)
	}
	slices.Sort(pids)
	return pids
}

func ids(list []*api.AllocationListStub) string {
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}
