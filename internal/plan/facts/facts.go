// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

// Facts describes one job at one moment: its instances by group and index, and what
// the store says about them. It never changes after New returns; the plans are derived
// from it.
type Facts struct {
	versions
	presence
	Decisions  decision.Decisions
	R          Reader
	Key        api.NamespacedID
	Job        *api.Job        // newest version; nil: purged
	Eval       *api.Evaluation // that asks for the facts; nil: none
	Now        time.Time
	Groups     []*Group          // of the job in declared order, then those that left it
	Instances  int               // number of instances, canaries included
	Deployment *api.Deployment   // newest one of the job, of any version
	Left       []*api.Allocation // orphans that continue outside of the job for now
	Drains     bool              // reports whether a node of the job's allocations is drained
	// Collected reports whether an allocation of the newest version belongs to a
	// deployment that is no longer stored.
	Collected bool
	old       map[*Group]bool // memory of hasOutdated
}

// New returns the facts about the job. Eval is the evaluation that asks for
// them; nil if none does.
func New(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time, m *Scratch) *Facts {
	f := &m.facts
	*f = Facts{
		versions: versions{r: r, key: key, job: job}, presence: presence{r: r, job: job, now: now},
		Decisions: decision.New(job, r.Decisions(key.Namespace, key.ID)),
		R:         r, Key: key, Job: job, Eval: eval, Now: now,
		Deployment: r.LatestDeployment(key.Namespace, key.ID),
	}
	s := sorter{Facts: f, scratch: m, byName: make(map[string]*Group)}
	s.sort()
	f.Drains = f.seenDrain
	return f
}

// OrdersOn returns what operators decided about the instance, oldest first.
func (f *Facts) OrdersOn(in *Instance) decision.Orders {
	if len(f.Decisions.Orders) == 0 {
		return nil
	}
	return f.Decisions.On(in.Place())
}

// Paused returns the decision that holds all of the tasks of the instance (nil: all
// of its group); nil if one of them is not held.
func (f *Facts) Paused(in *Instance, tasks []string) *api.Decision {
	o := f.OrdersOn(in)
	if len(o) == 0 {
		return nil
	}
	if len(tasks) == 0 {
		tasks = TaskNames(in.Group.Def)
	}
	return o.AllPausedBy(tasks)
}

// HasFailed reports whether the deployment of the newest version has failed. Then the
// plan has failed, too, even if its instances recover.
func (f *Facts) HasFailed() bool {
	return f.DeploysCurrent(f.Deployment) && f.Deployment.Status == api.DeploymentFailed
}

// DeploysCurrent reports whether the deployment is that of the newest version.
func (f *Facts) DeploysCurrent(d *api.Deployment) bool {
	return d != nil && f.Job != nil && d.JobVersion == f.Job.Version && d.JobCreateIndex == f.Job.CreateIndex
}
