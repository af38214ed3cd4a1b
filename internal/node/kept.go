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

// The ledger can be lost, or be an older copy of itself, while the tasks go on with
// the supervisor. Started again beside that, the agent would run everything a
// second time. So it asks the supervisor first which tasks it keeps: each belongs
// to an allocation, by its id. What the ledger or the servers know is adopted.
// What neither knows is ended, as soon as the servers have named all that they
// know.

// A Keeper keeps tasks while no agent runs.
type Keeper interface {
	// Kept lists the ids of the tasks it keeps, as in driver.Task. They run, or their
	// end was not taken note of.
	Kept(ctx context.Context) ([]string, error)
	// End stops a task, by force when the timeout is over, and forgets it.
	End(ctx context.Context, id string, timeout time.Duration) error
}

const (
	listPatience = 10 * time.Second
	endPatience  = 5 * time.Second // of a task whose own kill_timeout nobody knows
)

// keptTasks are the runs that the supervisor keeps of an allocation, by task,
// oldest first.
type keptTasks map[string][]int

// loadKept asks which tasks outlived the agent before.
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
			n.log.Error("the supervisor keeps a task of an unknown kind: it goes on until somebody stops it", "task", id)
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

// parseRun takes an id apart: ALLOC/TASK/RUN.
func parseRun(id string) (alloc, task string, run int, ok bool) {
	alloc, rest, ok := strings.Cut(id, "/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || alloc == "" || at <= 0 {
		return "", "", 0, false
	}
	run, err := strconv.Atoi(rest[at+1:])
	return alloc, rest[:at], run, err == nil && run > 0
}

// ids are the runs' ids, sorted.
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

// claim hands the newest run of each task of an allocation to its runner. The mutex
// is held, or nobody else has the node yet.
func (n *Node) claim(alloc string) map[string]int {
	tasks := n.kept[alloc]
	delete(n.kept, alloc)
	newest := make(map[string]int, len(tasks))
	for task, runs := range tasks {
		newest[task] = runs[len(runs)-1]
	}
	return newest
}

// endKept ends the tasks of an allocation that nobody is going to claim, and then
// says so. The mutex is held.
func (n *Node) endKept(alloc, why string, then func()) {
	ids := n.kept[alloc].ids(alloc)
	delete(n.kept, alloc)
	n.tasks.Go(func() {
		n.endTasks(n.host.Context, ids, why)
		then()
	})
}

// endTasks ends tasks, all at once.
func (n *Node) endTasks(ctx context.Context, ids []string, why string) {
	var ending sync.WaitGroup
	for _, id := range ids {
		n.log.Warn("ending a task that an earlier agent left", "task", id, "why", why)
		ending.Go(func() {
			pause := newBackoff(100*time.Millisecond, 5*time.Second)
			for {
				err := n.config.Keeper.End(ctx, id, endPatience)
				if err == nil || ctx.Err() != nil {
					return
				}
				n.log.Error("end a task that an earlier agent left", "task", id, "error", err)
				if !pause.wait(ctx) {
					return
				}
			}
		})
	}
	ending.Wait()
}

// endForeign ends all tasks of the node that this one was before its identity was
// lost: the servers count them as lost with that node, and replace them.
func (n *Node) endForeign(ctx context.Context) {
	var ids []string
	for alloc, tasks := range n.kept {
		ids = append(ids, tasks.ids(alloc)...)
	}
	clear(n.kept)
	n.endTasks(ctx, ids, "the node has lost its identity and registers as a new one, so the servers replace what ran on the old one")
}

// tidy ends, once the servers have named all that they know, what nobody claims,
// and removes the directories that no allocation owns. The mutex is held.
func (n *Node) tidy(m *api.NodeAllocations) {
	if n.tidied {
		return
	}
	n.tidied = true
	var ids []string
	if foreign := n.keptOf != "" && m.ClusterID != "" && n.keptOf != m.ClusterID; foreign || m.Rewound {
		for _, alloc := range slices.Sorted(maps.Keys(n.kept)) {
			n.log.Error("tasks run that neither the node's ledger nor these servers know, which may have lost them: they go on until somebody stops them",
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

// sweep removes directories that no allocation owns.
func (n *Node) sweep() {
	names, err := n.dirs.List()
	if err != nil {
		n.log.Warn("remove directories that no allocation owns", "error", err)
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
			n.log.Warn("remove a directory that no allocation owns", "allocation", id, "error", err)
		}
	}
}
