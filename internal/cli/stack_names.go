// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"

	"github.com/reeve-run/reeve/client"
)

// stackNames completes the names of stacks that are not terminated.
func stackNames(r *call, prefix string) ([]string, error) {
	list, _, err := r.cl.Stacks().List(r.ctx, "", nil, nil)
	var names []string
	for _, s := range list {
		if strings.HasPrefix(s.Name, prefix) {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// unitNames completes the names of units.
func unitNames(r *call, prefix string) ([]string, error) {
	list, _, err := r.cl.Units().List(r.ctx, nil)
	var names []string
	for _, u := range list {
		if strings.HasPrefix(u.Name, prefix) {
			names = append(names, u.Name)
		}
	}
	return names, err
}

// resolveStarter is resolveJob for commands that start children of a job: the name may be UNIT or
// UNIT@VERSION, which the servers resolve.
func (c *cli) resolveStarter(ctx context.Context, cl *client.Client, name string) (string, *client.Client, error) {
	id, in, err := c.resolveJob(ctx, cl, name)
	if err == nil && id == name {
		return id, in, nil
	}
	unit, _, _ := strings.Cut(name, "@")
	if _, _, failed := cl.Units().Get(ctx, unit, nil); unit != "" && failed == nil {
		return name, cl, nil
	}
	return id, in, err
}
