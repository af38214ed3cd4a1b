// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// A snapshot is restored through the log: so a majority of the servers has all of it before
// any server replaces its state, and all of them replace it at the same entry. Its parts are
// in the state until then, because snapshots of servers may replace their log entries.

// A restorePart is one part of a snapshot that is being restored.
type restorePart struct {
	Restore string // id of the restore
	Number  int    // from 0
	Data    []byte

	CreateIndex uint64
	ModifyIndex uint64
}

var restoreParts = declare(noun[restorePart]{
	name: "restore-parts", singular: "part of a restore", verb: "RestorePart", frame: 25,
	key:   func(p *restorePart) string { return fmt.Sprintf("%s/%08d", p.Restore, p.Number) },
	stamp: func(p *restorePart) (create, modify *uint64) { return &p.CreateIndex, &p.ModifyIndex },
})

// HasRestore reports whether the state contains parts of a restore that has not ended.
func (c *content) HasRestore() bool {
	for range restoreParts.all(c, "") {
		return true
	}
	return false
}

// StageRestore stores one part of a snapshot that is to be restored. Parts come in order;
// the first one discards those of earlier restores.
type StageRestore struct {
	ID     string
	Number int
	Data   []byte
}

// Name implements Command.
func (c *StageRestore) Name() string { return "StageRestore" }

func (c *StageRestore) encode() *wire.Command { return documentCommand(c) }

func (c *StageRestore) apply(t *txn) error {
	if c.ID == "" {
		return api.Errorf(api.CodeInvalid, "a restore needs an ID")
	}
	if c.Number == 0 {
		t.discardRestore()
	}
	if stored := len(slices.Collect(restoreParts.all(t.content, c.ID+"/"))); stored != c.Number {
		return api.Errorf(api.CodeConflict, "another restore began, or leadership changed: the state is unchanged; try again")
	}
	restoreParts.put(t, &restorePart{Restore: c.ID, Number: c.Number, Data: c.Data})
	return nil
}

// discardRestore deletes the parts of a restore.
func (t *txn) discardRestore() {
	for _, p := range slices.Collect(restoreParts.all(t.content, "")) {
		restoreParts.delete(t, restoreParts.key(p))
	}
}

// DiscardRestore ends a restore without effect.
type DiscardRestore struct{}

// Name implements Command.
func (c *DiscardRestore) Name() string { return "DiscardRestore" }

func (c *DiscardRestore) encode() *wire.Command { return documentCommand(c) }

func (c *DiscardRestore) apply(t *txn) error {
	t.discardRestore()
	return nil
}

// RestoreState replaces the state with a staged snapshot. It keeps the cluster's own trust,
// servers, introductions and excluded members: otherwise members would lose their
// certificates, nodes could change their pool, and excluded members could return. It begins a timeline after the snapshot's last change, and
// ends the freshness of all domains: jobs may be missing.
type RestoreState struct {
	ID       string // of the restore
	Parts    int
	SHA256   []byte // of all parts together
	Timeline string // globally unique
}

// Name implements Command.
func (c *RestoreState) Name() string { return "RestoreState" }

func (c *RestoreState) encode() *wire.Command { return documentCommand(c) }

func (c *RestoreState) apply(t *txn) error {
	l, err := c.load(t.content)
	if err != nil {
		return err
	}
	if c.Timeline == "" {
		return api.Errorf(api.CodeInvalid, "a timeline needs an ID")
	}
	if l.Level() > t.Level() {
		return RestoredLevelError(l.Level(), t.Level())
	}
	level, version := t.cluster.level, t.cluster.levelVersion
	entry, snapshot := t.index-t.ahead, l.content.index
	own := []func(*txn){keep(trusts, t), keep(servers, t), keep(revocations, t), keep(renewals, t), keep(introductions, t)}
	// Indexes never decrease, and exceed all indexes in the snapshot.
	t.index = max(t.index, snapshot+1)
	*t.content = *l.content
	t.content.index, t.ahead = t.index, t.index-entry
	// Pages of a loaded content belong to its generation; see Store.Restore.
	t.gen, t.replaced = l.gen, true
	t.dirty, t.lastOK = nil, false
	t.discardRestore()
	for _, put := range own {
		put(t)
	}
	t.endAllFreshness()
	t.cluster.level, t.cluster.levelVersion = level, version
	t.cluster.timelines = append(slices.Clone(t.cluster.timelines), timeline{c.Timeline, snapshot + 1})
	for table := range tableCount() {
		t.indexes[table] = t.index
	}
	return nil
}

// load decodes the staged snapshot.
func (c *RestoreState) load(from *content) (*loader, error) {
	var parts []io.Reader
	sum := sha256.New()
	for p := range restoreParts.all(from, c.ID+"/") {
		parts = append(parts, bytes.NewReader(p.Data))
		sum.Write(p.Data)
	}
	if len(parts) == 0 || len(parts) != c.Parts || !bytes.Equal(sum.Sum(nil), c.SHA256) {
		return nil, api.Errorf(api.CodeConflict, "the snapshot is no longer complete on the servers: another restore began, or leadership changed; the state is unchanged; try again")
	}
	z := flate.NewReader(io.MultiReader(parts...))
	l := &loader{txn: txn{content: new(newContent()), gen: 1}}
	if err := l.read(z); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "cannot restore the snapshot: %v; the state is unchanged", err)
	}
	return l, nil
}

// keep returns a function that gives a restored content the objects of a noun that the
// content has now, and no others.
func keep[T any](n *noun[T], t *txn) func(*txn) {
	objects := slices.Collect(n.stored(t.content, ""))
	return func(t *txn) {
		for _, o := range slices.Collect(n.stored(t.content, "")) {
			n.delete(t, n.key(o))
		}
		for _, o := range objects {
			n.store(t, o)
		}
	}
}
