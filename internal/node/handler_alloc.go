// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// maxBody bounds a request's body, in bytes: bodies contain one or two names.
const maxBody = 64 << 10

// decode decodes a request's body into v; an empty body leaves v unchanged.
func decode(r *http.Request, v any) error {
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return api.Errorf(api.CodeTooLarge, "read the request's body: it is longer than %d bytes", maxBody)
		}
		return api.Errorf(api.CodeInvalid, "read the request's body: %v", err)
	}
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return api.Errorf(api.CodeInvalid, "decode the request's body: %v", err)
	}
	return nil
}

func (n *Node) serveRestart(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	var q api.RestartAllocationRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	switch {
	case q.AllTasks && q.TaskName != "":
		return api.Errorf(api.CodeInvalid, "TaskName and AllTasks exclude each other")
	case q.AllTasks:
		err = run.RestartAll()
	default:
		err = run.Restart(q.TaskName)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, struct{}{})
}

func (n *Node) serveSignal(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	var q api.SignalAllocationRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	if err := run.Signal(r.Context(), q.Task, q.Signal); err != nil {
		return err
	}
	return writeJSON(w, struct{}{})
}

func (n *Node) serveChecks(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	return writeJSON(w, n.checks.Statuses(run.ID()))
}

// serveCollect removes an ended allocation's directory.
func (n *Node) serveCollect(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	select {
	case <-run.Ended():
	default:
		return api.Errorf(api.CodeConflict, "allocation %s has not ended", api.ShortID(run.ID()))
	}
	n.mu.Lock()
	n.discard(run.ID(), "")
	n.mu.Unlock()
	return writeJSON(w, struct{}{})
}

// serveCollectAll removes all ended allocations.
func (n *Node) serveCollectAll(w http.ResponseWriter, _ *http.Request) error {
	n.mu.Lock()
	for _, id := range n.ended {
		n.discard(id, "")
	}
	n.ended = nil
	n.mu.Unlock()
	return writeJSON(w, struct{}{})
}

func (n *Node) serveStats(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	only := r.FormValue("task")
	sum := api.ResourceUsage{
		MemoryStats: &api.MemoryStats{Measured: []string{"RSS"}},
		CPUStats:    &api.CPUStats{Measured: []string{"Percent", "TotalTicks"}},
	}
	all := &api.AllocationStats{ResourceUsage: &sum, Tasks: map[string]*api.TaskStats{}, Timestamp: time.Now().UnixNano()}
	for name, s := range run.Stats(r.Context()) {
		if only != "" && only != name {
			continue
		}
		u := n.usage(run.ID()+"/"+name, s)
		sum.MemoryStats.RSS += u.MemoryStats.RSS
		sum.MemoryStats.Usage += u.MemoryStats.Usage
		sum.CPUStats.Percent += u.CPUStats.Percent
		sum.CPUStats.TotalTicks += u.CPUStats.TotalTicks
		all.Tasks[name] = &api.TaskStats{ResourceUsage: u, Timestamp: s.At.UnixNano()}
	}
	return writeJSON(w, all)
}

// usage converts a measurement into rates since the previous measurement of the same task.
func (n *Node) usage(key string, s driver.Stats) *api.ResourceUsage {
	n.mu.Lock()
	last, seen := n.measured[key]
	n.measured[key] = s
	n.mu.Unlock()
	u := &api.ResourceUsage{
		MemoryStats: &api.MemoryStats{RSS: uint64(s.RSSBytes), Usage: uint64(s.RSSBytes), Measured: []string{"RSS"}},
		CPUStats:    &api.CPUStats{Measured: []string{"Percent", "TotalTicks"}},
	}
	if elapsed := s.At.Sub(last.At); seen && elapsed > 0 && s.CPUTime >= last.CPUTime {
		share := float64(s.CPUTime-last.CPUTime) / float64(elapsed)
		cpu := n.Node().Resources.CPU
		u.CPUStats.Percent = 100 * share
		if cpu.TotalCPUCores > 0 {
			u.CPUStats.TotalTicks = share * float64(cpu.CPUShares) / float64(cpu.TotalCPUCores)
		}
	}
	return u
}
