// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// restartsByTime lists restarts, the oldest first.
var restartsByTime = order[*api.JobRestart]{
	key:   func(r *api.JobRestart) key { return key{index: r.CreateIndex, id: r.ID} },
	dated: true,
}

func listRestarts(c *call, v *state.Snapshot) iter.Seq[*api.JobRestart] {
	job, status := c.query.Get("job"), c.query.Get("status")
	return where(v.RestartsPrefix(c.prefix), func(r *api.JobRestart) bool {
		return c.inNamespace(r.Namespace) && (job == "" || r.JobID == job) && (status == "" || r.Status == status)
	})
}

func showRestart(_ *call, _ *state.Snapshot, r *api.JobRestart) *api.JobRestart { return r }

func getRestart(c *call, v *state.Snapshot) (*api.JobRestart, uint64, error) {
	r, err := find("restart", c.id(), v.Restart(c.id()), v.RestartsPrefix, restartID)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return r, r.ModifyIndex, nil
}

func restartID(r *api.JobRestart) string { return r.ID }

func getJobRestarts(c *call, v *state.Snapshot) ([]*api.JobRestart, uint64, error) {
	return ofJob(c, v, v.RestartsByJob(c.namespace, c.id()), func(r *api.JobRestart) uint64 { return r.ModifyIndex }, itself)
}

func getJobRestart(c *call, v *state.Snapshot) (*api.JobRestart, uint64, error) {
	r, err := c.jobRestart(v)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return r, r.ModifyIndex, nil
}

// jobRestart returns the job's restart whose id, or a prefix of it, is the {rid} of the
// path.
func (c *call) jobRestart(v *state.Snapshot) (*api.JobRestart, error) {
	ofThisJob := func(r *api.JobRestart) bool { return r.Namespace == c.namespace && r.JobID == c.id() }
	rid := c.r.PathValue("rid")
	exact := v.Restart(rid)
	if exact != nil && !ofThisJob(exact) {
		exact = nil
	}
	return find("restart", rid, exact, func(prefix string) iter.Seq[*api.JobRestart] {
		return where(v.RestartsPrefix(prefix), ofThisJob)
	}, restartID)
}

func startRestart(c *call, req *api.JobRestartRequest) (*api.JobRestart, uint64, error) {
	return restartChanged(c.Server.StartRestart(c.r.Context(), c.namespace, c.id(), req))
}

func cancelRestart(c *call, req *api.JobRestartVerbRequest) (*api.JobRestart, uint64, error) {
	return c.changeRestart(api.RestartCancelled, req)
}

func pauseRestart(c *call, req *api.JobRestartVerbRequest) (*api.JobRestart, uint64, error) {
	return c.changeRestart(api.RestartPaused, req)
}

func resumeRestart(c *call, req *api.JobRestartVerbRequest) (*api.JobRestart, uint64, error) {
	return c.changeRestart(api.RestartRunning, req)
}

func (c *call) changeRestart(status string, req *api.JobRestartVerbRequest) (*api.JobRestart, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	r, err := c.jobRestart(c.Server.Store().Snapshot())
	if err != nil {
		return nil, 0, err
	}
	return restartChanged(c.Server.ChangeRestart(c.r.Context(), r.ID, status, req))
}

func restartChanged(r *api.JobRestart, err error) (*api.JobRestart, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return r, r.ModifyIndex, nil
}
