// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// The ledger can be lost or replaced by an older copy, while tasks continue under the
// supervisor. An agent that trusted such a ledger would start every task a second time.
// Therefore it first asks the supervisor which tasks it keeps; a task's id contains its
// allocation's id. The agent adopts tasks whose allocations the ledger or the servers know,
// and ends all others as soon as the servers have sent their complete list of allocations.

// A Keeper keeps tasks while no agent runs.
type Keeper interface {
	// Kept returns the ids of the tasks that it keeps, as in driver.Task: running tasks,
	// and ended ones whose exit no agent has recorded.
	Kept(ctx context.Context) ([]string, error)
	// End stops a task, by force after the timeout, and forgets it.
	End(ctx context.Context, id string, timeout time.Duration) error
	// TaskIn returns the id of the task whose v2 control group has that id; "": none has.
	TaskIn(group uint64) string
}

const (
	listPatience       = 10 * time.Second
	defaultKillTimeout = 5 * time.Second // for a task whose kill_timeout is unknown
)

// keptTasks holds the runs of an allocation that the supervisor keeps, by task, oldest
// first.
type keptTasks map[string][]int

// loadKept asks the supervisor for the tasks that outlived the previous agent.
func (n *Node) loadKept(ctx context.Context) error {
	if n.config.Keeper == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	ids, err := n.config.Keeper.Kept(ctx)
	if err != nil {
		return fmt.Errorf("list the tasks that an earlier agent left: %w", err)
	}
	for _, id := range ids {
		alloc, task, run, ok := parseRun(id)
		if !ok {
			n.log.Error("the supervisor keeps a task of an unknown kind: it continues until an operator stops it", "task", id)
			continue
		}
		if n.kept[alloc] == nil {
			n.kept[alloc] = keptTasks{}
		}
		n.kept[alloc][task] = append(n.kept[alloc][task], run)
	}
	for _, tasks := range n.kept {
		for _, runs := range tasks {
			slices.Sort(runs)
		}
	}
	return nil
}

// parseRun splits the id of a run: ALLOC/TASK/RUN.
func parseRun(id string) (alloc, task string, run int, ok bool) {
	alloc, rest, ok := strings.Cut(id, "/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || alloc == "" || at <= 0 {
		return "", "", 0, false
	}
	run, err := strconv.Atoi(rest[at+1:])
	return alloc, rest[:at], run, err == nil && run > 0
}

// ids returns the runs' ids, sorted.
func (k keptTasks) ids(alloc string) []string {
	var ids []string
	for task, runs := range k {
		for _, run := range runs {
			ids = append(ids, alloc+"/"+task+"/"+strconv.Itoa(run))
		}
	}
	slices.Sort(ids)
	return ids
}

// claim returns the newest run of each task of an allocation, for its runner, and stops
// tracking them. The mutex is held, or the node is not shared yet.
func (n *Node) claim(alloc string) map[string]int {
	tasks := n.kept[alloc]
	delete(n.kept, alloc)
	newest := make(map[string]int, len(tasks))
	for task, runs := range tasks {
		newest[task] = runs[len(runs)-1]
	}
	return newest
}

// endKept ends the tasks of an allocation that no runner will claim, and then calls then.
// The mutex is held.
func (n *Node) endKept(alloc, why string, then func()) {
	ids := n.kept[alloc].ids(alloc)
	delete(n.kept, alloc)
	n.tasks.Go(func() {
		n.endTasks(n.host.Context, ids, why)
		then()
	})
}

// endTasks ends tasks concurrently.
func (n *Node) endTasks(ctx context.Context, ids []string, why string) {
	var ending sync.WaitGroup
	for _, id := range ids {
		n.log.Warn("ending a task that an earlier agent left", "task", id, "why", why)
		ending.Go(func() {
			pause := newBackoff(100*time.Millisecond, 5*time.Second)
			for {
				err := n.config.Keeper.End(ctx, id, defaultKillTimeout)
				if err == nil || ctx.Err() != nil {
					return
				}
				n.log.Error("cannot end a task that an earlier agent left", "task", id, "error", err)
				if !pause.wait(ctx) {
					return
				}
			}
		})
	}
	ending.Wait()
}

// endForeign ends all tasks of the node's former identity: the servers count them as lost
// with that node, and replace them.
func (n *Node) endForeign(ctx context.Context) {
	var ids []string
	for alloc, tasks := range n.kept {
		ids = append(ids, tasks.ids(alloc)...)
	}
	clear(n.kept)
	n.endTasks(ctx, ids, "the node has lost its identity and registers as a new one, so the servers replace what ran on the old one")
}

// endUnclaimed ends the unclaimed tasks and removes the directories without an allocation, once the
// servers have sent their complete list. The mutex is held.
func (n *Node) endUnclaimed(m *api.NodeAllocations) {
	if n.unclaimedEnded {
		return
	}
	n.unclaimedEnded = true
	var ids []string
	if foreign := n.keptOf != "" && m.ClusterID != "" && n.keptOf != m.ClusterID; foreign || m.Rewound {
		for _, alloc := range slices.Sorted(maps.Keys(n.kept)) {
			n.log.Error("found tasks that neither the node's ledger nor the servers know; the servers may have lost them: the tasks continue until an operator stops them",
				"allocation", alloc, "tasks", n.kept[alloc].ids(alloc))
		}
	} else {
		for alloc, tasks := range n.kept {
			ids = append(ids, tasks.ids(alloc)...)
		}
		clear(n.kept)
	}
	n.tasks.Go(func() {
		n.endTasks(n.host.Context, ids, "neither the node's ledger nor the servers have its allocation among those that run")
		if n.host.Context.Err() == nil {
			n.sweep()
		}
	})
}

// sweep removes directories without an allocation.
func (n *Node) sweep() {
	names, err := n.dirs.List()
	if err != nil {
		n.log.Warn("cannot remove directories that no allocation owns", "error", err)
		return
	}
	for _, id := range names {
		n.mu.Lock()
		owned := n.runners[id] != nil || n.kept[id] != nil
		n.mu.Unlock()
		if owned {
			continue
		}
		if err := n.dirs.Remove(id); err != nil {
			n.log.Warn("cannot remove a directory that no allocation owns", "allocation", id, "error", err)
		}
	}
}
