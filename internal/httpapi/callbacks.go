// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// callbacksByTime lists callbacks, the oldest first.
var callbacksByTime = order[*api.Callback]{
	key:   func(c *api.Callback) key { return key{index: c.CreateIndex, id: c.ID} },
	dated: true,
}

func listCallbacks(c *call, v *state.Snapshot) iter.Seq[*api.Callback] {
	job, status := c.query.Get("job"), c.query.Get("status")
	return shown(where(v.CallbacksPrefix(c.prefix), func(is *api.Callback) bool {
		return c.inNamespace(is.Namespace) && (job == "" || is.JobID == job) && (status == "" || is.Status == status)
	}))
}

// shown removes the secrets of the receivers, also before filters see them.
func shown(all iter.Seq[*api.Callback]) iter.Seq[*api.Callback] {
	return func(yield func(*api.Callback) bool) {
		for is := range all {
			if !yield(is.Shown()) {
				return
			}
		}
	}
}

func showCallback(_ *call, _ *state.Snapshot, is *api.Callback) *api.Callback { return is }

func getCallback(c *call, v *state.Snapshot) (*api.Callback, uint64, error) {
	is, err := find("callback", c.id(), v.Callback(c.id()), v.CallbacksPrefix, func(is *api.Callback) string { return is.ID })
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return is.Shown(), is.ModifyIndex, nil
}

func getJobCallbacks(c *call, v *state.Snapshot) ([]*api.Callback, uint64, error) {
	return ofJob(c, v, shown(v.CallbacksByJob(c.namespace, c.id())), func(is *api.Callback) uint64 { return is.ModifyIndex }, itself)
}
