// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/joblogs"
	"github.com/reeve-run/reeve/internal/state"
)

// streamJobLogs sends the output of a job's tasks as it is written.
func streamJobLogs(c *call) error {
	q, err := c.parseJobLogs()
	if err != nil {
		return err
	}
	if err := c.checkHops(c.r); err != nil {
		return err
	}
	namespace, id, store := c.namespace, c.id(), c.Server.Store()
	of := func() ([]*api.Allocation, uint64) {
		v := store.Snapshot()
		return slices.Collect(v.AllocationsByJob(namespace, id)), v.TableIndex(state.TableAllocations)
	}
	list, _ := of()
	if err := c.checkJobLogs(store.Snapshot().Job(namespace, id), list, q); err != nil {
		return err
	}
	out := newStream(c, lines)
	out.may = true
	if err := out.start(); err != nil {
		return err
	}
	defer out.keepAlive("{}\n")()
	return out.end(joblogs.Stream(c.r.Context(), joblogs.Job{
		Allocations: of,
		Changed: func(ctx context.Context, after uint64) error {
			_, err := store.WaitChange(ctx, after, state.TableAllocations)
			return err
		},
		Open: c.openLogs,
	}, q, func(f *api.JobLogFrame) error { return out.send(f) }))
}

func (c *call) parseJobLogs() (*joblogs.Query, error) {
	q := &joblogs.Query{Group: c.query.Get("group"), Task: c.query.Get("task"), Type: c.query.Get("type")}
	var err error
	if q.Follow, err = c.flag("follow"); err != nil {
		return nil, err
	}
	switch origin := c.query.Get("origin"); origin {
	case "", api.OriginStart:
	case api.OriginEnd:
		q.FromEnd = true
	default:
		return nil, api.Errorf(api.CodeInvalid, "origin: unknown origin %q; use start or end", origin)
	}
	if text := c.query.Get("offset"); text != "" {
		if q.Offset, err = strconv.ParseInt(text, 10, 64); err != nil || q.Offset < 0 {
			return nil, api.Errorf(api.CodeInvalid, "offset: %q is not a number of bytes", text)
		}
	}
	if q.Type != "" && q.Type != api.LogStdout && q.Type != api.LogStderr {
		return nil, api.Errorf(api.CodeInvalid, "type: unknown type %q; use stdout or stderr", q.Type)
	}
	return q, nil
}

// checkJobLogs returns an error if the job has no such group or task: neither now nor in an allocation.
func (c *call) checkJobLogs(job *api.Job, list []*api.Allocation, q *joblogs.Query) error {
	jobs := []*api.Job{job}
	for _, a := range list {
		jobs = append(jobs, a.Job)
	}
	var groups, tasks []string
	exists := false
	for _, j := range jobs {
		if j == nil {
			continue
		}
		exists = true
		for _, g := range j.Groups {
			groups = append(groups, g.Name)
			for _, t := range g.Tasks {
				if q.Group == "" || q.Group == g.Name {
					tasks = append(tasks, t.Name)
				}
			}
		}
	}
	switch {
	case !exists:
		return api.Errorf(api.CodeNotFound, "job %s not found", c.jobName(c.id()))
	case q.Group != "" && !slices.Contains(groups, q.Group):
		return api.Errorf(api.CodeNotFound, "job %s has no group %q; it has: %s", c.jobName(c.id()), q.Group, named(groups))
	case q.Task != "" && !slices.Contains(tasks, q.Task):
		return api.Errorf(api.CodeNotFound, "job %s has no task %q; it has: %s", c.jobName(c.id()), q.Task, named(tasks))
	}
	return nil
}

func named(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// openLogs opens the output of a task on its node.
func (c *call) openLogs(ctx context.Context, s joblogs.Source, q *joblogs.Query) (io.ReadCloser, error) {
	node := c.Server.Store().Snapshot().Node(s.Alloc.NodeID)
	if node == nil {
		return nil, api.Errorf(api.CodeUnavailable, "node %s was deleted", api.ShortID(s.Alloc.NodeID))
	}
	if c.Node == nil || node.ID != c.NodeID() {
		if err := awayFrom(node); err != nil {
			return nil, err
		}
	}
	query := url.Values{"task": {s.Task}, "type": {s.Type}, "follow": {strconv.FormatBool(q.Follow)}, "offset": {strconv.FormatInt(q.Offset, 10)}}
	if q.FromEnd {
		query.Set("origin", api.OriginEnd)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node.HTTPAddr+"/v1/client/fs/logs/"+url.PathEscape(s.Alloc.ID)+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.askNode(node, r)
	if err != nil {
		return nil, fmt.Errorf("node %s (%s) does not answer: %w", api.ShortID(node.ID), node.Name, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return nil, api.Errorf(api.CodeUnavailable, "node %s (%s): %s", api.ShortID(node.ID), node.Name, api.Printable(strings.TrimSpace(string(text)), 1000))
	}
	return resp.Body, nil
}
