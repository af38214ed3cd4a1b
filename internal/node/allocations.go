// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// A keptJob is a version of a job that allocations on this node use.
type keptJob struct {
	job  *api.Job
	uses int
}

// receive applies one message of the stream.
func (n *Node) receive(m *api.NodeAllocations) {
	arrived := make(map[versionKey]*api.Job, len(m.Jobs))
	for _, j := range m.Jobs {
		arrived[versionKey{j.Namespace, j.ID, j.Version, j.CreateIndex}] = j
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.join(m.ClusterID)
	if m.Rewound {
		n.rewind()
	}
	known := make(map[string]bool, len(m.Allocations))
	for _, na := range m.Allocations {
		if na == nil || na.Allocation == nil {
			continue
		}
		known[na.ID] = true
		n.found(na.ID)
		n.accept(na, arrived)
	}
	for _, id := range m.Removed {
		n.discard(id, "The servers have removed the allocation")
	}
	if m.Complete {
		for id := range n.runners {
			if !known[id] {
				n.missing(id, m)
			}
		}
		n.endUnclaimed(m)
	}
	n.follow(m.Timeline)
}

// A versionKey identifies a version of a job in one message.
type versionKey struct {
	namespace, id        string
	version, createIndex uint64
}

// accept starts or updates one allocation.
func (n *Node) accept(na *api.NodeAllocation, arrived map[versionKey]*api.Job) {
	a := na.Allocation.Copy()
	a.Job = nil // an orphan keeps its own job
	if j := arrived[versionKey{a.Namespace, a.JobID, na.JobVersion, na.JobCreateIndex}]; j != nil && !a.Orphan {
		a.Job = j
		if k := n.jobs[runner.JobKey(j)]; k != nil {
			a.Job = k.job
		}
	}
	if r := n.runners[a.ID]; r != nil {
		if n.doomed[a.ID] {
			return
		}
		old := r.Allocation()
		if a.Job == nil {
			a.Job = old.Job
		}
		if isSame(old, a) {
			return
		}
		if a.Job != old.Job {
			n.useJob(a.Job)
			n.dropJob(old.Job)
		}
		before := r.FencedAfter()
		r.Update(a)
		if r.FencedAfter() != before {
			n.leashed(r)
		}
		return
	}
	switch {
	case a.IsClientTerminal():
		return
	case a.IsServerTerminal() && n.kept[a.ID] == nil:
		n.answer(a, api.AllocClientComplete, "It was to stop, and is not on its node")
		return
	case a.Job == nil:
		words := fmt.Sprintf("Version %d of its job did not reach the node", na.JobVersion)
		n.endKept(a.ID, words, func() { n.answer(a, api.AllocClientFailed, words) })
		return
	}
	n.useJob(a.Job)
	r := runner.New(n.host, a)
	n.runners[a.ID] = r
	n.leashed(r)
	if r.Adopt(n.claim(a.ID)) {
		n.log.Warn("adopting an allocation that the node's ledger does not have", "allocation", a.ID)
		r.Resume()
		n.reporter.mark(a.ID, r.Report, true)
		return
	}
	previous, ahead := n.predecessors(a)
	elsewhere := n.config.Data != nil && a.PreviousAllocation != "" && n.runners[a.PreviousAllocation] == nil && migrates(a)
	ending := n.config.Ended != nil && a.PreviousAllocation != "" && n.runners[a.PreviousAllocation] == nil && recreates(a)
	if len(ahead) == 0 && !elsewhere && !ending {
		r.Start()
		return
	}
	if elsewhere {
		r.SetWaiting("Waits for the data of what it takes over from, on another node")
	} else if ending {
		r.SetWaiting("Waits for the end of what it takes over from, on another node")
	} else if !hasEnded(ahead...) {
		r.SetWaiting("Waits for the end of what it takes over from, on the same node")
	}
	n.tasks.Go(func() {
		for _, other := range ahead {
			select {
			case <-other.Ended():
			case <-r.Ended():
			case <-n.host.Context.Done():
				return
			}
		}
		if previous != nil && isSticky(a) {
			if err := n.dirs.Inherit(previous.ID(), r.ID(), r.TaskNames()); err != nil {
				n.log.Warn("cannot inherit an allocation's data", "allocation", r.ID(), "previous", previous.ID(), "error", err)
			}
		}
		switch {
		case elsewhere:
			n.takeOver(r, a.PreviousAllocation)
		case ending:
			n.awaitEnd(r, a.PreviousAllocation)
		}
		if n.host.Context.Err() == nil {
			r.Start()
		}
	})
}

// predecessors returns the running allocations that must end before a new one starts: the
// one that it replaces may still hold its ports and write its data, and those that it
// preempted hold its resources. previous is the replaced one, if it is among them. After a
// restart the agent computes the same, because it does not record allocations that have not
// started, and the servers send them again.
func (n *Node) predecessors(a *api.Allocation) (previous *runner.Runner, ahead []*runner.Runner) {
	if r := n.runners[a.PreviousAllocation]; r != nil && (r.Allocation().IsServerTerminal() || isSticky(a) && hasEnded(r)) {
		previous, ahead = r, append(ahead, r)
	}
	for _, id := range a.PreemptedAllocations {
		if r := n.runners[id]; r != nil && r != previous {
			ahead = append(ahead, r)
		}
	}
	return previous, ahead
}

// hasEnded reports whether all the allocations have ended.
func hasEnded(runners ...*runner.Runner) bool {
	for _, r := range runners {
		select {
		case <-r.Ended():
		default:
			return false
		}
	}
	return true
}

// isSame reports whether the servers' part of the allocation is unchanged. Several changes may have one index: a stream may
// send what one command of an entry of the log left, and then what the next one did.
func isSame(old, a *api.Allocation) bool {
	return a.AllocModifyIndex == old.AllocModifyIndex && a.DesiredStatus == old.DesiredStatus && a.Job == old.Job &&
		a.DeploymentID == old.DeploymentID && launchesOf(a) == launchesOf(old) && skipsDelay(a) == skipsDelay(old)
}

// skipsDelay reports whether the allocation is to stop without its shutdown delays.
func skipsDelay(a *api.Allocation) bool {
	no := a.DesiredTransition.NoShutdownDelay
	return no != nil && *no
}

// launchesOf returns the id of the allocation's launches; "" if it has none.
func launchesOf(a *api.Allocation) string {
	if a.Launches == nil {
		return ""
	}
	return a.Launches.ID
}

// answer reports an allocation that does not run on this node.
func (n *Node) answer(a *api.Allocation, status, words string) {
	report := &api.Allocation{ID: a.ID, Namespace: a.Namespace, NodeID: n.identity.ID, JobID: a.JobID, Group: a.Group,
		ClientStatus: status, ClientDescription: words, TaskStates: map[string]*api.TaskState{}, ModifyTime: time.Now().UnixNano()}
	n.reporter.mark(a.ID, func() *api.Allocation { return report }, true)
}

// useJob keeps a job for one more allocation.
func (n *Node) useJob(j *api.Job) {
	key := runner.JobKey(j)
	if k := n.jobs[key]; k != nil {
		k.uses++
		return
	}
	n.jobs[key] = &keptJob{job: j, uses: 1}
	data, err := json.Marshal(j)
	if err != nil {
		n.log.Error("cannot encode a job", "job", j.ID, "error", err)
		return
	}
	n.ledger.Put(key, data)
}

func (n *Node) dropJob(j *api.Job) {
	key := runner.JobKey(j)
	k := n.jobs[key]
	if k == nil {
		return
	}
	if k.uses--; k.uses <= 0 {
		delete(n.jobs, key)
		n.ledger.Delete(key)
	}
}

// discard stops an allocation if it runs, and removes it.
func (n *Node) discard(id, why string) {
	r := n.runners[id]
	if r == nil || n.doomed[id] {
		return
	}
	n.doomed[id] = true
	n.tasks.Go(func() {
		r.Stop(why, true)
		select {
		case <-r.Ended():
		case <-n.host.Context.Done():
			return
		}
		r.Wait()
		n.remove(r)
	})
}

// remove deletes the remains of an ended allocation.
func (n *Node) remove(r *runner.Runner) {
	if err := n.dirs.Remove(r.ID()); err != nil {
		n.log.Warn("cannot remove an allocation's directory", "allocation", r.ID(), "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.runners[r.ID()] != r {
		return
	}
	delete(n.runners, r.ID())
	delete(n.doomed, r.ID())
	delete(n.arrivals, r.ID())
	n.found(r.ID())
	n.reporter.forget(r.ID())
	for _, task := range r.TaskNames() {
		delete(n.measured, r.ID()+"/"+task)
	}
	n.ledger.Delete(runner.KeyAllocation + r.ID())
	n.dropJob(r.Allocation().Job)
}

// acknowledged handles the servers' acknowledgement of reports. Of the ended allocations, it
// keeps only the newest.
func (n *Node) acknowledged(allocs []*api.Allocation) {
	slices.SortFunc(allocs, func(a, b *api.Allocation) int { return cmp.Compare(a.ModifyTime, b.ModifyTime) })
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range allocs {
		if a.IsClientTerminal() && n.runners[a.ID] != nil && !n.doomed[a.ID] {
			n.noteEnded(a.ID)
		}
	}
}

func (n *Node) noteEnded(id string) {
	if slices.Contains(n.ended, id) {
		return
	}
	n.ended = append(n.ended, id)
	for len(n.ended) > n.config.KeepEnded {
		oldest := n.ended[0]
		n.ended = n.ended[1:]
		n.discard(oldest, "")
	}
}

// runner returns the runner of an allocation.
func (n *Node) runner(id string) (*runner.Runner, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.runners[id]; r != nil {
		return r, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "allocation %q is not on node %s", id, n.identity.ID)
}

// restore makes runners for the allocations of an earlier agent.
func (n *Node) restore() error {
	jobs := map[string]*api.Job{}
	err := n.ledger.Each(runner.KeyJob, func(key string, value []byte) error {
		var j api.Job
		if err := json.Unmarshal(value, &j); err != nil {
			n.log.Error("cannot read a job from the node's ledger: its allocations are taken from the servers", "key", key, "error", err)
			return nil
		}
		jobs[key] = &j
		return nil
	})
	if err != nil {
		return err
	}
	find := func(key, namespace, id string, version uint64) *api.Job {
		if j := jobs[key]; j != nil || key != "" {
			return j
		}
		for _, j := range jobs { // written by a version without keys in its records
			if j.Namespace == namespace && j.ID == id && j.Version == version {
				return j
			}
		}
		return nil
	}
	err = n.ledger.Each(runner.KeyAllocation, func(key string, value []byte) error {
		r, err := runner.Restore(n.host, value, find)
		if err != nil {
			n.log.Error("cannot restore an allocation", "key", key, "error", err)
			return nil
		}
		r.Adopt(n.claim(r.ID()))
		n.runners[r.ID()] = r
		j := r.Allocation().Job
		jobKey := runner.JobKey(j)
		if n.jobs[jobKey] == nil {
			n.jobs[jobKey] = &keptJob{job: j}
			if jobs[jobKey] == nil { // written by a version with other keys
				if data, err := json.Marshal(j); err == nil {
					n.ledger.Put(jobKey, data)
				}
			}
		}
		n.jobs[jobKey].uses++
		return nil
	})
	if err != nil {
		return err
	}
	for key := range jobs {
		if n.jobs[key] == nil {
			n.ledger.Delete(key)
		}
	}
	return n.loadStrays()
}

// resume starts the restored runners.
func (n *Node) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, r := range n.runners {
		r.Resume()
		n.reporter.mark(id, r.Report, true)
	}
}
