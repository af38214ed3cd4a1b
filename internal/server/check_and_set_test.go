// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// write is one write of an object, by its number: the object carries it.
type write struct {
	index  uint64 // that was answered
	forced bool   // no check-and-set
	seen   uint64 // the index that was enforced
}

// race has writers change one object at the same time, with check-and-set by
// the index that each was answered last, or without. put writes a number and
// returns the index answered; then it returns what was acknowledged.
func race(t *testing.T, current func() uint64, put func(number int, enforce *uint64) (uint64, error)) map[int]write {
	t.Helper()
	const writers, rounds = 12, 40
	acknowledged := map[int]write{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 7))
			known := current()
			for i := range rounds {
				number, is := 1+w*rounds+i, write{seen: known, forced: rng.IntN(3) == 0}
				enforce := &is.seen
				if is.forced {
					enforce = nil
				}
				index, err := put(number, enforce)
				switch {
				case api.CodeOf(err) == api.CodeConflict:
					known = current()
					continue
				case err != nil:
					t.Errorf("write %d: %v", number, err)
					return
				}
				known, is.index = index, index
				mu.Lock()
				acknowledged[number] = is
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return acknowledged
}

// judge walks the history of the object, as pairs of modify index and number.
func judge(t *testing.T, history [][2]uint64, acknowledged map[int]write) {
	t.Helper()
	by := map[uint64]int{}
	for number, w := range acknowledged {
		if other, ok := by[w.index]; ok {
			t.Errorf("writes %d and %d were both answered index %d", number, other, w.index)
		}
		by[w.index] = number
	}
	last, found := uint64(0), 0
	for _, h := range history {
		index, number := h[0], int(h[1])
		w, ok := acknowledged[number]
		if !ok {
			last = index
			continue
		}
		found++
		if w.index != index {
			t.Errorf("write %d has index %d, and was answered %d", number, index, w.index)
		}
		if !w.forced && w.seen != last {
			t.Errorf("write %d enforced index %d, and overwrote index %d", number, w.seen, last)
		}
		last = index
	}
	if found != len(acknowledged) {
		t.Errorf("%d writes were acknowledged, %d are in the history", len(acknowledged), found)
	}
}

// historyOf returns the writes of one object, from the change feed.
func historyOf(t *testing.T, store *state.Store, from uint64, of func(state.Change) (index, number uint64, ok bool)) (history [][2]uint64) {
	t.Helper()
	for to := store.Index(); from < to; {
		b, err := store.BatchAfter(from)
		if err != nil || b == nil {
			t.Fatalf("the feed after %d: %v, %v", from, b, err)
		}
		for _, c := range b.Changes {
			if index, number, ok := of(c); ok && (len(history) == 0 || history[len(history)-1] != [2]uint64{index, number}) {
				history = append(history, [2]uint64{index, number})
			}
		}
		from = b.Index
	}
	return history
}

func TestCheckAndSetOnAJobLosesNoUpdate(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	job := batchJob("job", 1)
	job.Datacenters = []string{"none"}
	c.register(job)
	began := c.Store().Index()
	current := func() uint64 { return c.Store().Snapshot().Job("default", "job").JobModifyIndex }
	acknowledged := race(t, current, func(number int, enforce *uint64) (uint64, error) {
		j := job.Copy()
		j.Meta = map[string]string{"number": strconv.Itoa(number)}
		req := &api.RegisterJobRequest{Job: j, EnforceIndex: enforce != nil}
		if enforce != nil {
			req.JobModifyIndex = *enforce
		}
		res, err := c.RegisterJob(c.Context(), req)
		if err != nil {
			return 0, err
		}
		return res.JobModifyIndex, nil
	})
	judge(t, historyOf(t, c.Store(), began-1, func(change state.Change) (uint64, uint64, bool) {
		j, _ := change.New.(*api.Job)
		if j == nil || change.Table != state.TableJobs {
			return 0, 0, false
		}
		number, _ := strconv.ParseUint(j.Meta["number"], 10, 64)
		return j.JobModifyIndex, number, true
	}), acknowledged)
}

func TestCheckAndSetOnTheSchedulerConfigurationLosesNoUpdate(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	began := c.Store().Index()
	current := func() uint64 { return c.Store().Snapshot().SchedulerConfig().ModifyIndex }
	// Beside them somebody changes another field, and only that.
	var beside sync.WaitGroup
	beside.Go(func() {
		for i := range 40 {
			name := fmt.Sprintf("${meta.zone%d}", i)
			if _, err := c.SetSchedulerConfig(c.Context(), &api.SetSchedulerConfigRequest{ZoneAttribute: &name}, nil); err != nil && api.CodeOf(err) != api.CodeConflict {
				t.Errorf("set the zone: %v", err)
			}
		}
	})
	acknowledged := race(t, current, func(number int, enforce *uint64) (uint64, error) {
		return c.SetSchedulerConfig(c.Context(), &api.SetSchedulerConfigRequest{MaxStartingPerNode: &number}, enforce)
	})
	beside.Wait()
	var last *api.SchedulerConfig
	judge(t, historyOf(t, c.Store(), began, func(change state.Change) (uint64, uint64, bool) {
		config, _ := change.New.(*api.SchedulerConfig)
		if config == nil {
			return 0, 0, false
		}
		defer func() { last = config }()
		if last != nil && config.ZoneAttribute != last.ZoneAttribute {
			if config.MaxStartingPerNode != last.MaxStartingPerNode {
				t.Errorf("who set the zone undid write %d", last.MaxStartingPerNode)
			}
			return config.ModifyIndex, 0, true
		}
		return config.ModifyIndex, uint64(config.MaxStartingPerNode), true
	}), acknowledged)
}

func TestWritesOfANodePoolAreToldApart(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	began := c.Store().Index()
	acknowledged := race(t, func() uint64 { return 0 }, func(number int, _ *uint64) (uint64, error) {
		return c.PutNodePool(c.Context(), &api.NodePool{Name: "gpu", Description: strconv.Itoa(number)})
	})
	for number, w := range acknowledged {
		w.forced = true // there is no check-and-set
		acknowledged[number] = w
	}
	judge(t, historyOf(t, c.Store(), began, func(change state.Change) (uint64, uint64, bool) {
		pool, _ := change.New.(*api.NodePool)
		if pool == nil {
			return 0, 0, false
		}
		number, _ := strconv.ParseUint(pool.Description, 10, 64)
		return pool.ModifyIndex, number, true
	}), acknowledged)
}

// TestPreservedCountsAreTheNewest scales a job while it is registered again and
// again with its counts preserved.
func TestPreservedCountsAreTheNewest(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	job := batchJob("job", 1)
	job.Datacenters = []string{"none"}
	c.register(job)
	group := job.Groups[0].Name
	done := make(chan struct{})
	var registering sync.WaitGroup
	for w := range 4 {
		registering.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				j := job.Copy()
				j.Meta = map[string]string{"number": fmt.Sprint(w, i)}
				_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: j, PreserveCounts: true})
				if err != nil && api.CodeOf(err) != api.CodeConflict {
					t.Error(err)
				}
			}
		})
	}
	for count := int64(2); count < 60; count++ {
		_, err := c.ScaleJob(c.Context(), "default", "job", &api.ScaleJobRequest{Count: &count, Target: map[string]string{"Group": group}})
		if err != nil {
			t.Fatal(err)
		}
		if is := c.Store().Snapshot().Job("default", "job").Group(group).Size(); is != int(count) {
			t.Errorf("scaled to %d, and it is %d", count, is)
		}
	}
	close(done)
	registering.Wait()
	if is := c.Store().Snapshot().Job("default", "job").Group(group).Size(); is != 59 {
		t.Errorf("scaled to 59, and in the end it is %d", is)
	}
}
