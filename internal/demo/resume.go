// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// ErrNotADemo reports that an agent has jobs, but no complete shop.
var ErrNotADemo = errors.New("it has jobs, but not those of a complete demo: name an empty directory")

// filled is the path of the variable that marks an agent with a complete shop.
const filled = "demo/filled"

// IsFilled reports whether the agent has a complete shop, of an earlier demo with its data directory.
// It returns ErrNotADemo if the agent has other jobs.
func (f *Filler) IsFilled(ctx context.Context) (bool, error) {
	v, _, err := f.Client.Variables().Get(ctx, filled, nil)
	if err == nil {
		f.Say("The shop of the earlier demo starts again.")
		if was := v.Items["router"]; was != f.Router {
			f.Say("Its services call each other through %s, but the router listens at %s: stop the process that listens at the first address, and start the demo again.", was, f.Router)
		}
		return true, nil
	}
	if api.CodeOf(err) != api.CodeNotFound {
		return false, err
	}
	jobs, _, err := f.Client.WithNamespace("*").Jobs().List(ctx, nil)
	if err == nil && len(jobs) > 0 {
		err = ErrNotADemo
	}
	return false, err
}

// Resume waits until the shop of an earlier demo answers: Reeve starts its instances again half a
// minute after they ended. It does not wait for jobs that a user stopped or deleted.
func (f *Filler) Resume(ctx context.Context) error {
	return f.await(ctx, "web and checkout run", func() error {
		for _, name := range []string{"web", "checkout"} {
			job, _, err := f.Client.Jobs().Get(ctx, name, nil)
			if api.CodeOf(err) == api.CodeNotFound || err == nil && job.Stop {
				continue
			}
			if err != nil {
				return err
			}
			s, _, err := f.Client.Jobs().Summary(ctx, name, nil)
			if err != nil {
				return err
			}
			for _, g := range job.Groups {
				if s.Summary[g.Name].Running < g.Size() {
					return fmt.Errorf("%d of %d instances of %s run", s.Summary[g.Name].Running, g.Size(), name)
				}
			}
		}
		return nil
	})
}
