// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Actions lists the actions of a job's tasks.
func (j Jobs) Actions(ctx context.Context, id string, q *QueryOptions) ([]*api.JobAction, *QueryMeta, error) {
	return get[[]*api.JobAction](ctx, j.c, pathf("/v1/job/%s/actions", id), q)
}

// Action names an action of a job. Without an allocation, the server chooses a running one.
type Action struct {
	Name       string
	Group      string // may be empty, as long as one action has the name
	Allocation string // whole id
}

// RunAction runs an action in the task e.Task, which may be empty, and returns its exit code. e.Command is
// unused.
func (j Jobs) RunAction(ctx context.Context, id string, a Action, e Exec) (int, error) {
	v := url.Values{"action": {a.Name}, "tty": {strconv.FormatBool(e.TTY)}}
	for name, value := range map[string]string{"group": a.Group, "task": e.Task, "allocID": a.Allocation} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return j.c.session(ctx, pathf("/v1/job/%s/action", id), v, e)
}
