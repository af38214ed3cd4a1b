// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/worker"
)

// Bounds of the requests with answers.
const (
	// senders is the number of requests under way. The leader writes as many entries at the
	// same time.
	senders    = 2
	maxAnswers = 256     // in one request
	sendBytes  = 4 << 20 // after which a request gets no further answer
	// MaxAnswerBytes bounds a request with answers. One answer may be larger than sendBytes.
	MaxAnswerBytes = 64 << 20
	// MaxPollBytes bounds a poll.
	MaxPollBytes = 64 << 10
)

// outgoing is an answer on its way to the leader.
type outgoing struct {
	*Answer
	last   *broker.Delivery // that the answer ends; nil: the result decides
	size   int
	result *Result
	err    error
	done   chan struct{}
}

// Submit implements worker.Queue.
func (f *Follower) Submit(ctx context.Context, d *broker.Delivery, s *applier.Submission, kept *api.Evaluation) (*applier.Result, error) {
	res, err := f.submit(ctx, d, s, kept)
	switch {
	case err != nil:
		f.env.Fleet.Release(s.Claimed)
	case !res.Whole:
		f.env.Fleet.Release(notCommitted(s.Claimed, res))
	}
	return res, err
}

func (f *Follower) submit(ctx context.Context, d *broker.Delivery, s *applier.Submission, kept *api.Evaluation) (*applier.Result, error) {
	token, ok := f.token(d)
	if !ok {
		return nil, worker.ErrLost
	}
	o := f.post(encodeSubmission(token, s, kept), nil)
	if o.size > MaxAnswerBytes-(1<<20) {
		return nil, fmt.Errorf("the placement of %d allocations has %d bytes, more than servers send each other", len(s.Placement.Place), o.size)
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case o.err != nil || o.result.GetLost():
		// If the connection broke, the result may be committed. The leader knows, and repeats
		// the delivery if it is not.
		f.drop(d)
		return nil, worker.ErrLost
	case o.result.GetError() != "":
		return nil, fmt.Errorf("the leader cannot commit the placement: %s", o.result.GetError())
	}
	res := decodeResult(o.result)
	if res.Whole {
		f.drop(d)
	}
	return res, nil
}

// notCommitted returns the claimed allocations that the leader did not commit.
func notCommitted(claimed []*api.Allocation, res *applier.Result) (out []*api.Allocation) {
	if res.Placed == 0 {
		return claimed
	}
	refused := map[string]bool{}
	for _, r := range res.Refused {
		refused[r.AllocID] = true
	}
	for _, a := range claimed {
		if refused[a.ID] {
			out = append(out, a)
		}
	}
	return out
}

// Ack implements worker.Queue. A delivery whose result was committed has ended already.
func (f *Follower) Ack(d *broker.Delivery, kept *api.Evaluation) {
	if token, ok := f.token(d); ok {
		f.post(encodeAck(token, kept), d)
	}
}

// Nack implements worker.Queue.
func (f *Follower) Nack(d *broker.Delivery) {
	token, ok := f.token(d)
	if !ok {
		return
	}
	m := &Answer{Token: token, Verdict: verdictReturn}
	switch {
	case d.Failure != "":
		m.Verdict, m.Failure = verdictFail, d.Failure
	case d.Contended:
		m.Verdict = verdictContend
	}
	f.post(m, d)
}

func (f *Follower) token(d *broker.Delivery) (uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token, ok := f.held[d]
	return token, ok
}

func (f *Follower) drop(d *broker.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, d)
}

// post queues an answer. This server holds the delivery that it ends until the leader has it.
func (f *Follower) post(m *Answer, last *broker.Delivery) *outgoing {
	o := &outgoing{Answer: m, last: last, size: m.SizeVT(), done: make(chan struct{})}
	if o.size > MaxAnswerBytes-(1<<20) {
		return o // the caller returns an error
	}
	f.mu.Lock()
	f.unsent = append(f.unsent, o)
	f.mu.Unlock()
	f.signal()
	return o
}

func (f *Follower) signal() {
	select {
	case f.unsents <- struct{}{}:
	default:
	}
}

// take removes queued answers, as many as fit into one request.
func (f *Follower) take() (list []*outgoing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := 0
	for len(f.unsent) > 0 && len(list) < maxAnswers && (size == 0 || size+f.unsent[0].size <= sendBytes) {
		size += f.unsent[0].size
		list = append(list, f.unsent[0])
		f.unsent[0] = nil
		f.unsent = f.unsent[1:]
	}
	if len(f.unsent) > 0 {
		f.signal()
	}
	return list
}

// send sends queued answers until ctx ends. Answers that queue up meanwhile share the next
// request.
func (f *Follower) send(ctx context.Context) {
	for {
		select {
		case <-f.unsents:
		case <-ctx.Done():
			return
		}
		if list := f.take(); len(list) > 0 {
			f.deliver(ctx, list)
		}
	}
}

// deliver sends answers, and records their results.
func (f *Follower) deliver(ctx context.Context, list []*outgoing) {
	m := &Answers{Session: f.session}
	for _, o := range list {
		m.Answers = append(m.Answers, o.Answer)
	}
	var reply Results
	body, err := m.MarshalVT()
	if err == nil {
		body, err = f.env.Call(ctx, AnswerPath, body)
	}
	if err == nil {
		err = reply.UnmarshalVT(body)
	}
	if err == nil && len(reply.Results) != len(list) {
		err = fmt.Errorf("%d results for %d answers", len(reply.Results), len(list))
	}
	if err != nil && ctx.Err() == nil {
		f.env.Logger.Debug("cannot send results to the leader", "results", len(list), "error", err)
	}
	for i, o := range list {
		if o.err = err; err == nil {
			o.result = reply.Results[i]
		}
		if o.last != nil {
			f.drop(o.last)
		}
		close(o.done)
	}
}
