// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package prefetch derives which nodes pull the images of a job's new version before its rollout reaches them. It is
// pure, like package plan: the plan of the rollout and the pins of the version decide, and nothing is stored.
package prefetch

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// minAhead is the number of waiting steps per phase whose nodes pull images, if the phase does not run more at a time. A
// window instead of all nodes spares the registry, and the nodes of a version whose first instances fail.
const minAhead = 8

// Reader is what prefetches are derived from; a state.Snapshot is one.
type Reader interface {
	facts.Reader
	ImagePinsOf(namespace, jobID string) []*api.ImagePin
}

// Derive returns the groups whose images a node pulls ahead, by node. A node keeps a prefetch until the step there is
// complete, so that a pull is not abandoned when the step begins.
func Derive(r Reader, job *api.Job, now time.Time) map[string][]*api.Prefetch {
	if job == nil || job.Stop {
		return nil
	}
	groups := groupsOf(r, job)
	if len(groups) == 0 {
		return nil
	}
	plans := derive.DeployOnly(r, job.Key(), job, nil, now)
	defer plans.Release()
	nodes := map[string][]*api.Prefetch{}
	for _, t := range plans.Trees {
		if t.Failed {
			return nil
		}
		for _, ph := range t.Phases {
			addPhase(nodes, groups, ph)
		}
	}
	return nodes
}

// addPhase adds the nodes of the steps that run, and of those that follow.
func addPhase(nodes map[string][]*api.Prefetch, groups map[string]*api.Prefetch, ph *tree.Phase) {
	left := max(minAhead, 2*max(ph.Limit, ph.Most))
	for i := range ph.Steps {
		st := &ph.Steps[i]
		if st.Status == tree.Complete || st.On == nil || st.On.Alloc == nil {
			continue
		}
		p := groups[st.On.Group.Name]
		waits := st.Action == tree.Replace || st.Blocked == tree.Replace
		if p == nil || !waits && st.Status != tree.Starting && st.Status != tree.Started {
			continue
		}
		if waits {
			if left == 0 {
				return
			}
			left--
		}
		node := st.On.Alloc.NodeID
		list := nodes[node]
		if len(list) == 0 || list[len(list)-1] != p { // the steps of a group follow each other
			nodes[node] = append(list, p)
		}
	}
}

// groupsOf returns a prefetch of each group with an image whose digest is known.
func groupsOf(r Reader, job *api.Job) map[string]*api.Prefetch {
	groups := map[string]*api.Prefetch{}
	of := func(group string) *api.Prefetch {
		if groups[group] == nil {
			groups[group] = &api.Prefetch{Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, JobCreateIndex: job.CreateIndex, Group: group}
		}
		return groups[group]
	}
	images := false
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			if !api.RunsImages(t.Driver) {
				continue
			}
			images = true
			if image, _ := t.Config["image"].(string); strings.Contains(image, "@") {
				of(g.Name)
			}
		}
	}
	if !images {
		return nil
	}
	for _, p := range r.ImagePinsOf(job.Namespace, job.ID) {
		if p.JobVersion == job.Version && p.JobCreateIndex == job.CreateIndex && job.Group(p.TaskGroup) != nil {
			g := of(p.TaskGroup)
			g.Pins = append(g.Pins, &api.PrefetchPin{Task: p.Task, Image: p.Image, Digest: p.Digest})
		}
	}
	return groups
}

// Concerns reports whether the job has images, so that its rollout can have prefetches.
func Concerns(job *api.Job) bool {
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			if api.RunsImages(t.Driver) {
				return true
			}
		}
	}
	return false
}
