// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// instancesOf returns the running allocations of a job or, if none runs, the newest
// allocation of each instance. With a task, it returns only allocations with this task.
func (c *cli) instancesOf(ctx context.Context, cl *client.Client, job, task string) ([]*api.AllocationListStub, error) {
	list, _, err := cl.Jobs().Allocations(ctx, job, true, nil)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "job %q has no allocations yet", job)
	}
	view.SortAllocations(list) // the newest of an instance first
	var running, ended []*api.AllocationListStub
	for _, a := range list {
		switch {
		case task != "" && a.TaskStates[task] == nil:
		case isRunning(a):
			running = append(running, a)
		case len(ended) == 0 || logName(ended[len(ended)-1]) != logName(a):
			ended = append(ended, a)
		}
	}
	switch {
	case len(running) > 0:
		return running, nil
	case len(ended) > 0:
		return ended, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "no allocation of job %q has a task %q", job, task)
}

// logName returns the instance that a log belongs to. Jobs on every node have one
// instance per node.
func logName(a *api.AllocationListStub) string {
	if a.JobType == api.JobTypeSystem || a.JobType == api.JobTypeSysBatch {
		return a.TaskGroup + "@" + api.ShortID(a.NodeID)
	}
	return api.InstanceName(a.TaskGroup, view.IndexOf(a))
}

// ofJob prints the output of a task of a job's instances. With several instances, each
// line starts with its instance: one instance after another or, with -f, mixed.
func (l *logs) ofJob(ctx context.Context, to target, args []string) error {
	id, cl, err := l.c.resolveJob(ctx, l.cl, to.job)
	if err != nil {
		return err
	}
	task := cmp.Or(append([]string{to.task}, args...)...)
	list, err := l.c.instancesOf(ctx, cl, id, task)
	if err != nil {
		return err
	}
	l.cl = cl
	if len(list) == 1 {
		a, _, err := cl.Allocations().Get(ctx, list[0].ID, nil)
		if err != nil {
			return err
		}
		return l.of(ctx, a, task)
	}
	if l.follow {
		l.cl = l.c.patient(cl, l.c.tell)
	}
	all, prefixed, err := l.each(ctx, list, task)
	if err != nil {
		return err
	}
	errs := make([]error, len(all))
	var following sync.WaitGroup
	for i, one := range all {
		if !l.follow {
			errs[i] = one.show(ctx)
			continue
		}
		following.Go(func() { errs[i] = one.show(ctx) })
	}
	following.Wait()
	for _, p := range prefixed {
		errs = append(errs, p.end())
	}
	return errors.Join(errs...)
}

// each returns a printer for the output of each allocation, with its prefix.
func (l *logs) each(ctx context.Context, list []*api.AllocationListStub, task string) (all []*logs, prefixed []*linePrefix, err error) {
	var mu sync.Mutex
	prefix := func(w io.Writer, name string) io.Writer {
		p := &linePrefix{mu: &mu, w: w, prefix: name + " | "}
		prefixed = append(prefixed, p)
		return p
	}
	for _, stub := range list {
		a, _, err := l.cl.Allocations().Get(ctx, stub.ID, nil)
		if err != nil {
			return nil, nil, err
		}
		one := *l
		one.alloc = a.ID
		if one.task, err = chooseTask(a, task); err != nil {
			return nil, nil, err
		}
		one.stdout, one.stderr = prefix(l.stdout, logName(stub)), prefix(l.stderr, logName(stub))
		all = append(all, &one)
	}
	return all, prefixed, nil
}

// longestHeld limits the part of an incomplete line that is held back.
const longestHeld = 64 << 10

// A linePrefix writes whole lines with a prefix, so that the lines of several writers do
// not mix.
type linePrefix struct {
	mu     *sync.Mutex // shared by all writers to w
	w      io.Writer
	prefix string
	held   []byte // incomplete line
}

func (p *linePrefix) Write(data []byte) (int, error) {
	p.held = append(p.held, data...)
	end := bytes.LastIndexByte(p.held, '\n') + 1
	if end == 0 && len(p.held) > longestHeld {
		end = len(p.held)
	}
	lines := p.held[:end]
	err := p.write(lines)
	p.held = append(p.held[:0], p.held[end:]...)
	return len(data), err
}

// end writes the held part of a line.
func (p *linePrefix) end() error {
	err := p.write(p.held)
	p.held = nil
	return err
}

func (p *linePrefix) write(text []byte) error {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		b.WriteString(p.prefix)
		b.Write(line)
		if !bytes.HasSuffix(line, []byte("\n")) {
			b.WriteByte('\n')
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.w.Write(b.Bytes())
	return err
}
