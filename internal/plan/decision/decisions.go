// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Decisions holds the operators' decisions on a job and its instances.
type Decisions struct {
	job    *api.Job
	All    []*api.Decision // on the last registration of the job, oldest first
	Orders map[Place]Orders
	Newest string // id of the newest stored decision on a job of that name
}

// New returns the decisions that concern the job, out of all stored ones.
func New(job *api.Job, stored []*api.Decision) Decisions {
	d := Decisions{job: job, All: stored}
	if len(stored) == 0 {
		return d
	}
	d.Newest = stored[len(stored)-1].ID
	isForeign := func(d *api.Decision) bool { return d.JobCreateIndex != job.CreateIndex }
	if job != nil && slices.ContainsFunc(stored, isForeign) {
		d.All = slices.DeleteFunc(slices.Clone(stored), isForeign)
	}
	for _, one := range d.All {
		if one.IsAboutInstance() {
			p := Place{one.Group, one.Index, one.Node}
			if d.Orders == nil {
				d.Orders = make(map[Place]Orders)
			}
			d.Orders[p] = append(d.Orders[p], one)
		}
	}
	return d
}

// On returns the orders about an instance.
func (d *Decisions) On(p Place) Orders {
	if len(d.Orders) == 0 {
		return nil
	}
	return d.Orders[p]
}

// RulingsOf applies the decisions on the plan that the filter accepts; a filter of
// nil accepts all.
func (d *Decisions) RulingsOf(plan string, bears func(*api.Decision) bool) *Rulings {
	var r *Rulings
	for _, one := range d.All {
		if one.Plan != plan || bears != nil && !bears(one) {
			continue
		}
		if r == nil {
			r = &Rulings{}
		}
		r.apply(one)
	}
	return r
}

// IsOnVersion reports whether the decision concerns the deployment of the newest version.
func (d *Decisions) IsOnVersion(one *api.Decision) bool {
	return d.job != nil && one.JobVersion == d.job.Version
}

// HoldsOn returns the rulings that hold the plan, or continue it.
func (s *Decisions) HoldsOn(plan string, bears func(*api.Decision) bool) *Rulings {
	return s.RulingsOf(plan, func(d *api.Decision) bool {
		return (d.Verb == api.VerbInterrupt || d.Verb == api.VerbContinue) && bears(d)
	})
}

// GivenUpBy returns the decision that gives the allocation up, or nil.
func (s *Decisions) GivenUpBy(a *api.Allocation, plan, phase string) *api.Decision {
	for _, d := range s.All {
		switch {
		case d.Plan != plan || d.Verb != api.VerbForceComplete || !s.IsOnVersion(d):
		case d.Step == "" && (d.Phase == "" || d.Phase == phase), d.Step != "" && d.Allocation == a.ID:
			return d
		}
	}
	return nil
}

// StoppedBy returns the decision that stopped the launch's run of a custom plan; nil
// if the run was not stopped.
func (s *Decisions) StoppedBy(l *api.Launch) *api.Decision {
	if !l.Alone || l.Token == "" {
		return nil
	}
	run := l.Token
	for _, d := range s.All {
		switch {
		case d.ID == l.Token && d.Run != "":
			run = d.Run
		case d.Verb == api.VerbStop && d.Run == run:
			return d
		}
	}
	return nil
}
