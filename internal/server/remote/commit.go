// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Answer processes the results of another server. It answers when all of them are committed
// or refused. The commits belong to the term, not to the request: a connection that breaks
// meanwhile leaves no result half done.
func (l *Leader) Answer(server string, body []byte) ([]byte, error) {
	var m Answers
	if err := m.UnmarshalVT(body); err != nil {
		return nil, invalid(err)
	}
	answers := make([]*answer, len(m.Answers))
	for i, a := range m.Answers {
		var err error
		if answers[i], err = decodeAnswer(a); err != nil {
			return nil, invalid(fmt.Errorf("answer %d: %w", i, err))
		}
	}
	loans, err := l.claim(server, m.Session, answers)
	if err != nil {
		return nil, invalid(err)
	}
	results := &Results{Results: make([]*Result, len(answers))}
	var committing sync.WaitGroup
	for i, a := range answers {
		switch d := loans[i]; {
		case d == nil:
			results.Results[i] = &Result{Lost: true}
		case a.verdict == verdictSubmit:
			committing.Go(func() {
				results.Results[i] = l.commit(d, a)
				l.settle(server, a.token, d, results.Results[i])
			})
		default:
			l.end(d, a)
			results.Results[i] = &Result{Whole: true}
		}
	}
	committing.Wait()
	return results.MarshalVT()
}

// claim returns the loans of the answers, or nil for those that the server does not hold. It
// changes nothing if an answer does not suit its delivery.
func (l *Leader) claim(server, session string, answers []*answer) ([]*loan, error) {
	loans := make([]*loan, len(answers))
	l.mu.Lock()
	defer l.mu.Unlock()
	le := l.lessees[server]
	if le == nil || le.session != session {
		return loans, nil
	}
	seen := map[uint64]bool{}
	for i, a := range answers {
		d := le.held[a.token]
		if d == nil || d.busy || seen[a.token] {
			continue
		}
		if err := a.suits(d.Evaluation); err != nil {
			return nil, err
		}
		loans[i], seen[a.token] = d, true
	}
	le.heard = time.Now()
	for i, d := range loans {
		switch {
		case d == nil:
		case answers[i].verdict == verdictSubmit:
			d.busy = true
		default:
			delete(le.held, answers[i].token)
		}
	}
	return loans, nil
}

// commit passes a result to the applier.
func (l *Leader) commit(d *loan, a *answer) *Result {
	if !l.env.Broker.Hold(d.Delivery) {
		return &Result{Lost: true}
	}
	resolve(l.env.Store.Snapshot(), a.submission.Placement)
	res, err := l.env.Applier.Submit(l.ctx, a.submission)
	l.env.Broker.Release(d.Delivery)
	if err == nil && res.Whole {
		l.env.Broker.Ack(d.Delivery, a.kept)
	}
	if err == nil {
		for _, r := range res.Refused {
			l.env.Refused(r)
		}
	}
	return encodeResult(res, err)
}

// settle ends the loan after a complete result, or when the delivery is lost. Otherwise the
// server tries again.
func (l *Leader) settle(server string, token uint64, d *loan, r *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.busy = false
	le := l.lessees[server]
	if le == nil || le.held[token] != d {
		// The server was silent meanwhile.
		if !r.Whole && !r.Lost {
			l.env.Broker.Return(d.Delivery)
		}
		return
	}
	if r.Whole || r.Lost {
		delete(le.held, token)
	}
}

// end ends a delivery without changes.
func (l *Leader) end(d *loan, a *answer) {
	switch a.verdict {
	case verdictAck:
		l.env.Broker.Ack(d.Delivery, a.kept)
	case verdictFail:
		d.Failure = a.failure
		l.env.Broker.Nack(d.Delivery)
	case verdictContend:
		l.env.Broker.ReturnHere(d.Delivery)
	default:
		l.env.Broker.Return(d.Delivery)
	}
}

// resolve replaces references to stored jobs with the jobs, as the placements of this server have
// them.
func resolve(snap *state.Snapshot, p *state.Placement) {
	var of *api.Job
	stored := func(ref *api.Job) *api.Job {
		if of == nil || of.ID != ref.ID || of.Namespace != ref.Namespace {
			of = snap.Job(ref.Namespace, ref.ID)
		}
		if of != nil && of.Version == ref.Version && of.CreateIndex == ref.CreateIndex && of.JobModifyIndex == ref.JobModifyIndex {
			return of
		}
		return ref
	}
	if p.Job != nil {
		p.Job = stored(p.Job)
	}
	for _, a := range p.Place {
		if a.Job != nil {
			a.Job = stored(a.Job)
		}
	}
}
