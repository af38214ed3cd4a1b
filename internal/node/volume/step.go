// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A step is what the node does next about one volume.
type step string

const (
	nothing step = ""
	create  step = "create"
	destroy step = "delete"
	report  step = "report" // the servers lack the result
	forget  step = "forget" // the servers deleted it without the node
)

// next decides about one volume. r is the node's record, v what the servers want; known reports whether
// the servers have said so since the agent started.
func next(r *record, v *api.HostVolume, known bool) step {
	switch {
	case r != nil && r.busy:
		return nothing
	case !known || v == nil && r.Stray:
		if r.Made > 0 && !r.checked {
			return create // tasks may wait for it
		}
		if known && r.checked {
			return report
		}
		return nothing
	case v == nil:
		return forget
	case v.State == api.HostVolumeDeleting:
		if r == nil {
			return report
		}
		return destroy
	case r == nil || !r.checked || r.Made != v.Generation:
		return create
	case v.State == api.HostVolumePending || v.HostPath != r.Path || v.CapacityBytes != r.Bytes:
		return report
	}
	return nothing
}

// reportOf returns the report on a volume; v is nil if the servers do not know it, and r if the node
// does not have it.
func reportOf(id string, r *record, v *api.HostVolume) *api.HostVolumeReport {
	switch {
	case r == nil:
		return &api.HostVolumeReport{ID: id, Generation: v.Generation, Deleted: true}
	case v == nil:
		offered := r.Volume
		return &api.HostVolumeReport{ID: id, Generation: r.Made, HostPath: r.Path, CapacityBytes: r.Bytes, Offered: &offered}
	}
	return &api.HostVolumeReport{ID: id, Generation: r.Made, HostPath: r.Path, CapacityBytes: r.Bytes}
}

// An outcome is the result of a creation.
type outcome struct {
	path  string
	bytes int64
}

// carryOut creates or deletes a volume. Both may be repeated. made is the generation that was created before.
func (k *Keeper) carryOut(ctx context.Context, v *api.HostVolume, path string, made uint64, what step) (outcome, error) {
	switch {
	case v.IsRegistered() && what == destroy:
		return outcome{}, nil // it belongs to others
	case v.IsRegistered():
		return outcome{path: v.HostPath}, k.checkRegistered(v.HostPath)
	case v.PluginID == api.PluginMkdir && what == destroy:
		return outcome{}, k.removeDir(v.ID)
	case v.PluginID == api.PluginMkdir:
		return k.makeDir(v, made == v.Generation)
	case what == destroy:
		return outcome{}, k.runDelete(ctx, v, path)
	}
	return k.runCreate(ctx, v)
}

// checkRegistered returns an error unless the path is a directory that tasks may see.
func (k *Keeper) checkRegistered(path string) error {
	resolved, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return fmt.Errorf("host_path %s does not exist on the node: make the directory", path)
	case resolved != path:
		return fmt.Errorf("host_path %s contains a symbolic link: use %s", path, resolved)
	case isBelow(path, k.config.Private), isBelow(k.config.Private, path):
		return fmt.Errorf("host_path %s would show the data of the node's agent: choose another directory", path)
	}
	return checkDir(path)
}

func checkDir(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	return nil
}

// isBelow reports whether path is dir or lies in it.
func isBelow(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// isID reports whether an id can be the name of a directory.
func isID(id string) bool {
	return len(id) == 36 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'f') && (r < '0' || r > '9') && r != '-'
	})
}

// tell queues a report. The mutex is held.
func (k *Keeper) tell(id string, r *api.HostVolumeReport) {
	k.reports[id] = r
	k.signalReports()
}

// signalReports wakes those who wait for changes. The mutex is held.
func (k *Keeper) signalReports() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// keepReporting sends reports until ctx ends. A report that fails is sent again, unless a newer one
// has replaced it.
func (k *Keeper) keepReporting(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ctx.Err() == nil {
		k.mu.Lock()
		changed := k.changed
		sent := make(map[string]*api.HostVolumeReport, len(k.reports))
		var batch []*api.HostVolumeReport
		for id, r := range k.reports {
			sent[id] = r
			batch = append(batch, r)
		}
		idle := len(batch) == 0 || !k.known
		k.mu.Unlock()
		if idle {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		err := k.config.Report(ctx, batch)
		if err != nil && ctx.Err() == nil {
			k.config.Logger.Warn("cannot report host volumes", "volumes", len(batch), "error", err)
			pause.Reset(time.Second)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			continue
		}
		k.mu.Lock()
		for id, r := range sent {
			if k.reports[id] == r {
				delete(k.reports, id)
			}
		}
		k.mu.Unlock()
	}
}
