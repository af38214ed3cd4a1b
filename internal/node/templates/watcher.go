// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package templates keeps the values that the templates of a node's tasks need.
//
// A node has one request under way for all of its templates. It waits at a server until a value changes. A node whose
// templates need no values has none.
package templates

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/template"
)

// An Ask sends a request to the servers.
type Ask func(context.Context, *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error)

const (
	askTimeout = 30 * time.Second       // for an answer that waits for nothing
	gather     = 10 * time.Millisecond  // for needs that arrive together
	retryLeast = 250 * time.Millisecond // between two attempts
	retryMost  = 15 * time.Second
	awayAfter  = 3 // failures
)

// A Watcher keeps the values of all templates of a node. Its zero value is not usable.
type Watcher struct {
	ctx context.Context // of the node
	ask Ask
	log *slog.Logger

	mu      sync.Mutex
	watches map[*Watch]struct{}
	runs    bool
	kick    func() // ends the request that waits; nil: none does
	away    error  // why the servers do not answer; nil: they do
	failed  int
	asked   int // requests so far
}

// New returns a watcher that lasts as long as ctx.
func New(ctx context.Context, ask Ask, log *slog.Logger) *Watcher {
	return &Watcher{ctx: ctx, ask: ask, log: log, watches: map[*Watch]struct{}{}}
}

// A Watch keeps the values of one task.
type Watch struct {
	w           *Watcher
	alloc, task string
	changed     chan struct{}

	// The watcher's mutex guards the needs.
	needs []template.Dependency
	known map[template.Dependency]*known
}

// known is what the servers said about a need.
type known struct {
	stamp, reason string
	value         template.Value
}

// Open begins a watch. The caller closes it.
func (w *Watcher) Open(alloc, task string) *Watch {
	x := &Watch{w: w, alloc: alloc, task: task, changed: make(chan struct{}, 1), known: map[template.Dependency]*known{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches[x] = struct{}{}
	return x
}

// Close ends the watch.
func (x *Watch) Close() {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	delete(x.w.watches, x)
}

// Changed returns a channel that receives when a value, or the reachability of the servers, has changed.
func (x *Watch) Changed() <-chan struct{} { return x.changed }

// Need sets what the task's templates need. Values that they no longer need are forgotten.
func (x *Watch) Need(needs []template.Dependency) {
	w := x.w
	w.mu.Lock()
	defer w.mu.Unlock()
	next := make(map[template.Dependency]*known, len(needs))
	x.needs = x.needs[:0:0]
	unknown := false
	for _, d := range needs {
		if next[d] != nil {
			continue
		}
		k := x.known[d]
		if k == nil {
			k, unknown = &known{}, true
		}
		next[d] = k
		x.needs = append(x.needs, d)
	}
	dropped := len(next) < len(x.known)
	x.known = next
	if !unknown && !dropped {
		return
	}
	if w.kick != nil {
		w.kick()
	}
	if !w.runs && unknown {
		w.runs = true
		go w.run()
	}
}

// Value returns a value and, if the task may not read it, the reason.
func (x *Watch) Value(d template.Dependency) (template.Value, string) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	if k := x.known[d]; k != nil {
		return k.value, k.reason
	}
	return template.Value{}, ""
}

// Away returns why the servers do not answer; nil if they do.
func (x *Watch) Away() error {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.w.away
}

// Requests returns the number of requests so far.
func (w *Watcher) Requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// run asks until no watch needs a value.
func (w *Watcher) run() {
	pause := retryLeast
	for w.ctx.Err() == nil {
		if !sleep(w.ctx, gather) {
			return
		}
		r, of, ctx, cancel := w.next()
		if r == nil {
			return
		}
		answer, err := w.ask(ctx, r)
		kicked := ctx.Err() != nil && context.Cause(ctx) == errKicked
		cancel(nil)
		switch {
		case w.ctx.Err() != nil:
			return
		case err == nil:
			pause = retryLeast
			w.take(of, answer)
		case kicked:
		default:
			w.fail(err)
			if !sleep(w.ctx, pause/2+rand.N(pause)) {
				return
			}
			pause = min(2*pause, retryMost)
		}
	}
}

type kickedError struct{}

func (kickedError) Error() string { return "other values are needed" }

var errKicked = kickedError{}

// A place is a need in a request.
type place struct {
	watch *Watch
	needs []template.Dependency
}

// next returns the next request; nil if none is needed. Unknown values come first, and do not wait.
func (w *Watcher) next() (*api.TemplateValuesRequest, []place, context.Context, context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, of := w.request(true)
	if r == nil {
		if r, of = w.request(false); r != nil {
			r.Wait = api.MaxTemplateWait
		}
	}
	if r == nil {
		w.runs, w.kick = false, nil
		return nil, nil, nil, nil
	}
	w.asked++
	ctx, cancel := context.WithCancelCause(w.ctx)
	bounded, done := context.WithTimeout(ctx, r.Wait+askTimeout)
	w.kick = nil
	if r.Wait > 0 {
		w.kick = func() { cancel(errKicked) }
	}
	return r, of, bounded, func(cause error) { done(); cancel(cause) }
}

// request makes a request for the needs of all watches, or for those that are unknown.
func (w *Watcher) request(unknown bool) (*api.TemplateValuesRequest, []place) {
	r := &api.TemplateValuesRequest{}
	var of []place
	total := 0
	for x := range w.watches {
		t := &api.TemplateTask{AllocID: x.alloc, Task: x.task}
		p := place{watch: x}
		for _, d := range x.needs {
			k := x.known[d]
			if unknown && k.stamp != "" || total >= api.MaxTemplateNeeds {
				continue
			}
			t.Needs = append(t.Needs, &api.TemplateNeed{Kind: string(d.Kind), Namespace: d.Namespace, Name: d.Name, Stamp: k.stamp})
			p.needs = append(p.needs, d)
			total++
		}
		if len(t.Needs) > 0 {
			r.Tasks = append(r.Tasks, t)
			of = append(of, p)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	return r, of
}

// take stores the values of an answer.
func (w *Watcher) take(of []place, answer *api.TemplateValuesResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = 0
	if w.away != nil {
		w.away = nil
		w.notifyAll()
	}
	for _, v := range answer.Values {
		if v == nil || v.Task < 0 || v.Task >= len(of) || v.Need < 0 || v.Need >= len(of[v.Task].needs) {
			continue
		}
		p := of[v.Task]
		if k := p.watch.known[p.needs[v.Need]]; k != nil {
			k.stamp, k.reason, k.value = v.Stamp, v.Reason, valueOf(v)
			p.watch.notify()
		}
	}
}

// fail notes that the servers do not answer.
func (w *Watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed++; w.failed == awayAfter {
		w.away = err
		w.log.Warn("cannot read the values of templates; tasks keep their last ones", "error", err)
		w.notifyAll()
	}
}

func (w *Watcher) notifyAll() {
	for x := range w.watches {
		x.notify()
	}
}

func (x *Watch) notify() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// valueOf converts a value of the servers.
func valueOf(v *api.TemplateValue) template.Value {
	out := template.Value{State: template.Present}
	switch v.State {
	case api.TemplateAbsent:
		out.State = template.Absent
	case api.TemplateForbidden:
		out.State = template.Forbidden
	}
	if v.Variable != nil {
		out.Path, out.Items, out.Metadata = v.Variable.Path, v.Variable.Items, metadataOf(&v.Variable.VariableMetadata)
	}
	for _, m := range v.Variables {
		out.Variables = append(out.Variables, metadataOf(m))
	}
	for _, s := range v.Services {
		out.Instances = append(out.Instances, template.ServiceInstance{
			ID: s.ID, Name: s.ServiceName, Address: s.Address, Port: s.Port, Tags: s.Tags, JobID: s.JobID, AllocID: s.AllocID,
			NodeID: s.NodeID, Datacenter: s.Datacenter, Namespace: s.Namespace, Zone: s.Zone, Meta: s.Meta,
		})
	}
	for _, s := range v.Names {
		out.Services = append(out.Services, template.ServiceName{Name: s.ServiceName, Tags: s.Tags})
	}
	return out
}

func metadataOf(m *api.VariableMetadata) template.VariableMetadata {
	return template.VariableMetadata{Namespace: m.Namespace, Path: m.Path, CreateIndex: m.CreateIndex, ModifyIndex: m.ModifyIndex,
		CreateTime: m.CreateTime, ModifyTime: m.ModifyTime}
}
