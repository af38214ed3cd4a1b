// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

const (
	maxReportsInFlight = 4       // of one node; an agent has one
	maxReportBatch     = 256     // reports in one message
	maxReportBytes     = 4 << 20 // in one message, unless a single report is larger
	maxReportCalls     = 4       // messages in flight
	reportTimeout      = 30 * time.Second
)

// reports passes the reports of nodes on to the leader. Reports that arrive while messages are
// in flight share the next one.
type reports struct {
	server *Server

	mu      sync.Mutex
	waiting []report
	calls   int // in flight
}

// A report waits for the leader.
type report struct {
	link *link
	what *nodeproto.Report
}

// take accepts a report of a node.
func (p *reports) take(l *link, m *nodeproto.Report) error {
	l.mu.Lock()
	l.inFlight++
	tooMany, open, ended := l.inFlight > maxReportsInFlight, l.feed != nil, l.ended
	l.mu.Unlock()
	switch {
	case ended:
		return nil
	case !open:
		return fmt.Errorf("%w: it reports before it was accepted", errProtocol)
	case tooMany:
		return fmt.Errorf("%w: it has more than %d reports in flight", errProtocol, maxReportsInFlight)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, report{l, &nodeproto.Report{Number: m.Number, Session: m.Session, Content: m.Content}})
	if p.calls < maxReportCalls {
		p.calls++
		p.server.writers.do(func() { p.run(l.conn.ctx) })
	}
	return nil
}

// run sends reports until none waits.
func (p *reports) run(ctx context.Context) {
	for {
		batch := p.next()
		if len(batch) == 0 {
			return
		}
		p.send(ctx, batch)
	}
}

// next returns the reports of the next message. Without any, the caller has to end.
func (p *reports) next() []report {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, size := 0, 0
	for n < min(len(p.waiting), maxReportBatch) {
		if size += len(p.waiting[n].what.Content); n > 0 && size > maxReportBytes {
			break
		}
		n++
	}
	batch := p.waiting[:n:n]
	if p.waiting = p.waiting[n:]; len(p.waiting) == 0 {
		p.waiting = nil
	}
	if n == 0 {
		p.calls--
	}
	return batch
}

// send sends one message, and passes on the results.
func (p *reports) send(ctx context.Context, batch []report) {
	m := &nodeproto.Reports{Reports: make([]*nodeproto.PassedReport, len(batch))}
	for i, r := range batch {
		m.Reports[i] = &nodeproto.PassedReport{Node: nodeproto.PackID(r.link.node), Content: r.what.Content, Number: r.what.Number, Session: r.what.Session}
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	answer, err := p.server.Report(ctx, m)
	if err == nil && len(answer.Results) != len(batch) {
		err = api.Errorf(api.CodeInternal, "the leader answered %d of %d reports", len(answer.Results), len(batch))
	}
	for i, r := range batch {
		result := &nodeproto.ReportResult{Number: r.what.Number, Failure: nodeproto.FailureOf(err)}
		if err == nil {
			result.Index, result.Failure = answer.Results[i].Index, answer.Results[i].Failure
		}
		r.link.say(func() {
			r.link.inFlight--
			if !r.link.ended {
				r.link.results = append(r.link.results, result)
			}
		})
	}
}
