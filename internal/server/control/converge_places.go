// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import "github.com/reeve-run/reeve/api"

// places is the set of places that a job has, and which of them are held. Its
// memory is used for one job after another.
type places struct {
	job     *api.Job
	held    []uint64   // one bit for each place, group after group
	runs    []uint64   // the same of what is not known to have ended, and is heard of, or has done its work
	missing int        // places that nothing holds so far
	down    int        // places that nothing runs in so far, nor has done its work
	extra   bool       // something is there that should not be
	last    *api.Group // of the allocation before: most follow one of the same group
	name    string
	base    int // its first place
}

// begin is before the first allocation of a job.
func (p *places) begin(job *api.Job) {
	size := 0
	if !job.Stop {
		for _, g := range job.Groups {
			size += g.Size()
		}
	}
	words := (size + 63) / 64
	if cap(p.held) < words {
		p.held, p.runs = make([]uint64, words), make([]uint64, words)
	}
	*p = places{job: job, held: p.held[:words], runs: p.runs[:words], missing: size, down: size}
	clear(p.held)
	clear(p.runs)
}

// visit takes an allocation of the job into account, and reports whether there
// is anything left to find out.
func (p *places) visit(a *api.Allocation) bool {
	if a.IsServerTerminal() || a.Orphan || a.IsCanary() {
		return true
	}
	if p.last == nil || a.Group != p.name {
		p.find(a.Group)
	}
	index := a.Index()
	if p.job.Stop || p.last == nil || index < 0 || index >= p.last.Size() {
		p.extra = p.extra || !a.IsClientTerminal() // nothing should hold it
		return !p.extra
	}
	at := p.base + index
	bit := uint64(1) << (at % 64)
	if p.held[at/64]&bit == 0 {
		p.held[at/64] |= bit
		p.missing--
	}
	ended := a.IsClientTerminal()
	if a.IsSuspect() || ended && (a.ClientStatus != api.AllocClientComplete || !p.job.RunsToCompletion()) {
		return true
	}
	if p.runs[at/64]&bit == 0 {
		p.runs[at/64] |= bit
		p.down--
		return true
	}
	p.extra = !ended // two run where one should
	return !p.extra
}

// find looks up a group; there may be none of that name.
func (p *places) find(name string) {
	p.last, p.base = nil, 0
	for _, g := range p.job.Groups {
		if g.Name == name {
			p.last, p.name = g, name
			return
		}
		p.base += g.Size()
	}
}
