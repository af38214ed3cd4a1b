// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// decisions holds the operators' decisions on a job and its instances.
type decisions struct {
	job    *api.Job
	all    []*api.Decision // on the job as it was registered last, oldest first
	orders map[place]orders
	newest string // id of the newest stored decision on a job of that name
}

// newDecisions returns the decisions that concern the job, out of all stored ones.
func newDecisions(job *api.Job, stored []*api.Decision) decisions {
	d := decisions{job: job, all: stored}
	if len(stored) == 0 {
		return d
	}
	d.newest = stored[len(stored)-1].ID
	isForeign := func(d *api.Decision) bool { return d.JobCreateIndex != job.CreateIndex }
	if job != nil && slices.ContainsFunc(stored, isForeign) {
		d.all = slices.DeleteFunc(slices.Clone(stored), isForeign)
	}
	for _, one := range d.all {
		if one.IsAboutInstance() {
			p := place{one.Group, one.Index, one.Node}
			if d.orders == nil {
				d.orders = make(map[place]orders)
			}
			d.orders[p] = append(d.orders[p], one)
		}
	}
	return d
}

// on returns the orders about an instance.
func (d *decisions) on(p place) orders {
	if len(d.orders) == 0 {
		return nil
	}
	return d.orders[p]
}

// rulingsOf applies the decisions on the plan that the filter accepts; a filter of
// nil accepts all.
func (d *decisions) rulingsOf(plan string, bears func(*api.Decision) bool) *rulings {
	var r *rulings
	for _, one := range d.all {
		if one.Plan != plan || bears != nil && !bears(one) {
			continue
		}
		if r == nil {
			r = &rulings{}
		}
		r.apply(one)
	}
	return r
}

// isOnVersion reports whether the decision concerns the deployment of the newest version.
func (d *decisions) isOnVersion(one *api.Decision) bool {
	return d.job != nil && one.JobVersion == d.job.Version
}

// holdsOn are the rulings that hold the plan, or let it go on.
func (s *decisions) holdsOn(plan string, bears func(*api.Decision) bool) *rulings {
	return s.rulingsOf(plan, func(d *api.Decision) bool {
		return (d.Verb == api.VerbInterrupt || d.Verb == api.VerbContinue) && bears(d)
	})
}

// givenUp is the decision that gives the allocation up; nil if there is none.
func (s *decisions) givenUp(a *api.Allocation, plan, phase string) *api.Decision {
	for _, d := range s.all {
		switch {
		case d.Plan != plan || d.Verb != api.VerbForceComplete || !s.isOnVersion(d):
		case d.Step == "" && (d.Phase == "" || d.Phase == phase), d.Step != "" && d.Allocation == a.ID:
			return d
		}
	}
	return nil
}

// stoppedBy is the decision that stopped the run of a custom plan that a launch
// belongs to; nil if it was not stopped.
func (s *decisions) stoppedBy(l *api.Launch) *api.Decision {
	if !l.Alone || l.Token == "" {
		return nil
	}
	run := l.Token
	for _, d := range s.all {
		switch {
		case d.ID == l.Token && d.Run != "":
			run = d.Run
		case d.Verb == api.VerbStop && d.Run == run:
			return d
		}
	}
	return nil
}
