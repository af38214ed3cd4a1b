// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package volume creates and deletes the dynamic host volumes of a node, and remembers them.
//
// The servers say what the node has to do: a list of volumes, each with a generation. Everything
// else follows from the difference between that list and the node's own durable records, so that an
// end of the agent or of a server at any moment loses and doubles nothing: a record exists before
// its volume does, plugins are idempotent, and a report is repeated until the servers have it.
//
// Volumes whose record the servers lack are never deleted. They are offered to servers that cannot
// have deleted them; otherwise an operator forgot them by force, and their data stays.
package volume

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

const (
	keyVolume  = "volume/"
	retryAfter = 15 * time.Second // after a failure
	pathWait   = time.Minute      // a task waits for its volume
	atOnce     = 4                // plugins that run at the same time
)

// Config configures a Keeper.
type Config struct {
	Dir     string // of created volumes
	Plugins string // directory of plugins
	Private string // the agent's data, which no registered volume may show
	NodeID  string
	Pool    string
	Ledger  *ledger.Ledger
	// Report sends reports to the servers.
	Report func(context.Context, []*api.HostVolumeReport) error
	Logger *slog.Logger
}

// A record is what the node durably knows of a volume. It exists before the volume.
type record struct {
	Volume  api.HostVolume // as the servers requested it last
	Path    string         `json:",omitempty"`
	Bytes   int64          `json:",omitempty"`
	Made    uint64         `json:",omitempty"` // generation that was carried out
	Cluster string         `json:",omitempty"` // whose servers know it
	Stray   bool           `json:",omitempty"` // its servers lost it

	checked bool   // by this agent
	busy    bool   // a step runs
	failure string // of the last step
	retry   time.Time
}

// A Keeper keeps the volumes of one node.
type Keeper struct {
	config Config

	mu      sync.Mutex
	records map[string]*record
	wanted  map[string]*api.HostVolume
	known   bool                             // reports whether wanted is the servers' list
	cluster string                           // of the servers
	reports map[string]*api.HostVolumeReport // to be sent, by volume
	changed chan struct{}                    // closed and replaced at each change
	wake    chan struct{}
	steps   sync.WaitGroup
}

// Open reads the records of the node.
func Open(c Config) (*Keeper, error) {
	if err := os.MkdirAll(c.Dir, 0o711); err != nil {
		return nil, fmt.Errorf("make the directory of host volumes: %w", err)
	}
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the directory of host volumes: %w", err)
	}
	c.Dir = dir
	if private, err := filepath.EvalSymlinks(c.Private); err == nil {
		c.Private = private
	}
	k := &Keeper{
		config: c, records: map[string]*record{}, reports: map[string]*api.HostVolumeReport{}, changed: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	err = c.Ledger.Each(keyVolume, func(key string, value []byte) error {
		r := new(record)
		if err := json.Unmarshal(value, r); err != nil {
			return fmt.Errorf("read the record of volume %s: %w", strings.TrimPrefix(key, keyVolume), err)
		}
		k.records[strings.TrimPrefix(key, keyVolume)] = r
		return nil
	})
	return k, err
}

// Receive takes the servers' complete list of the node's volumes. cluster is "" if it is the same as before;
// rewound reports whether the servers work on an older copy of their data.
func (k *Keeper) Receive(list []*api.HostVolume, cluster string, rewound bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cluster != "" {
		k.cluster = cluster
	}
	k.known, k.wanted = true, map[string]*api.HostVolume{}
	for _, v := range list {
		if v != nil && isID(v.ID) {
			k.wanted[v.ID] = v
		}
	}
	for id, r := range k.records {
		v := k.wanted[id]
		stray := r.Stray || v == nil && (rewound || r.Cluster != "" && r.Cluster != k.cluster)
		switch {
		case v != nil && (r.Stray || r.Cluster != k.cluster):
			r.Stray, r.Cluster = false, k.cluster
			k.save(id, r)
		case v == nil && stray && !r.Stray:
			r.Stray = true
			k.save(id, r)
		}
	}
	k.signal()
}

// signal wakes Run and those who wait for a path. The mutex is held.
func (k *Keeper) signal() {
	close(k.changed)
	k.changed = make(chan struct{})
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *Keeper) save(id string, r *record) *ledger.Commit {
	text, err := json.Marshal(r)
	if err != nil {
		panic("volume: encode a record: " + err.Error()) // it holds only what JSON has
	}
	return k.config.Ledger.Put(keyVolume+id, text)
}

// Run does the work until ctx ends, and waits for running plugins.
func (k *Keeper) Run(ctx context.Context) {
	defer k.steps.Wait()
	k.steps.Go(func() { k.keepReporting(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-timer.C:
		}
		if wait := k.advance(ctx, time.Now()); wait > 0 {
			timer.Reset(wait)
		}
	}
}

// advance starts the steps that are due, and returns the time until the next retry; 0: none.
func (k *Keeper) advance(ctx context.Context, now time.Time) (wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	running := 0
	for _, r := range k.records {
		if r.busy {
			running++
		}
	}
	for _, id := range k.ids() {
		r, v := k.records[id], k.wanted[id]
		switch what := next(r, v, k.known); {
		case what == nothing:
		case what == forget:
			k.config.Logger.Warn("a volume was deleted by force while this node was away: its data stays", "volume", id, "path", r.Path)
			delete(k.records, id)
			k.config.Ledger.Delete(keyVolume + id)
		case what == report:
			k.tell(id, reportOf(id, r, v))
		case r != nil && now.Before(r.retry):
			if left := r.retry.Sub(now); wait == 0 || left < wait {
				wait = left
			}
		case running < atOnce:
			running++
			k.begin(ctx, id, r, v, what)
		}
	}
	return wait
}

func (k *Keeper) ids() []string {
	all := maps.Clone(k.wanted)
	if all == nil {
		all = map[string]*api.HostVolume{}
	}
	for id := range k.records {
		if _, ok := all[id]; !ok {
			all[id] = nil
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// begin starts a step of a volume. The mutex is held.
func (k *Keeper) begin(ctx context.Context, id string, r *record, v *api.HostVolume, what step) {
	if r == nil {
		r = &record{}
		k.records[id] = r
	}
	if v != nil {
		r.Volume, r.Cluster = *v, k.cluster
		r.Volume.Allocations = nil
	}
	r.busy = true
	spec, made := r.Volume, r.Made
	recorded := k.save(id, r)
	k.steps.Go(func() {
		result, err := outcome{}, recorded.Wait()
		if err == nil {
			result, err = k.carryOut(ctx, &spec, r.Path, made, what)
		}
		if ctx.Err() != nil {
			return // the next agent repeats it
		}
		k.finish(id, r, spec.Generation, what, result, err)
	})
}

// finish records the result of a step. It is durable before the servers hear of it.
func (k *Keeper) finish(id string, r *record, generation uint64, what step, result outcome, err error) {
	k.mu.Lock()
	switch {
	case err != nil:
		r.failure = api.Printable(err.Error(), 500)
	case what == destroy:
		r.failure = ""
	default:
		r.Path, r.Bytes, r.Made, r.failure, r.checked = result.path, result.bytes, generation, "", true
	}
	done := k.save(id, r)
	if err == nil && what == destroy {
		done = k.config.Ledger.Delete(keyVolume + id)
	}
	k.mu.Unlock()
	if failed := done.Wait(); failed != nil && err == nil {
		err = failed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.busy = false
	if err != nil {
		r.retry = time.Now().Add(retryAfter)
		k.config.Logger.Warn("cannot "+string(what)+" a host volume", "volume", id, "name", r.Volume.Name, "error", err)
		k.tell(id, &api.HostVolumeReport{ID: id, Generation: generation, Error: api.Printable(err.Error(), 500)})
	} else if what == destroy {
		delete(k.records, id)
		k.tell(id, &api.HostVolumeReport{ID: id, Generation: generation, Deleted: true})
	} else if v := k.wanted[id]; v != nil {
		k.tell(id, reportOf(id, r, v))
	}
	k.signal()
}

// Path returns the directory of a volume, once this agent has made sure that it exists.
func (k *Keeper) Path(ctx context.Context, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pathWait)
	defer cancel()
	for {
		k.mu.Lock()
		r, changed := k.records[id], k.changed
		if r != nil && r.checked {
			defer k.mu.Unlock()
			return r.Path, nil
		}
		why := "this node does not have it"
		if r != nil {
			why = "its directory is being prepared"
		}
		if r != nil && r.failure != "" {
			why = r.failure
		}
		k.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return "", fmt.Errorf("host volume %s is not ready: %s", api.ShortID(id), why)
		}
	}
}
