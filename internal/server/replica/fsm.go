// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

var (
	_ raft.BatchingFSM = (*machine)(nil)
	_ raft.FSMSnapshot = (*image)(nil)
)

// machine applies the log's entries to the store.
type machine struct {
	store   *state.Store
	mark    *watermark
	bytes   atomic.Int64 // applied since the last snapshot was begun
	size    atomic.Int64 // of the last snapshot
	failure atomic.Pointer[error]
	damaged func(error) // called once, when an entry cannot be applied
	early   sync.Map    // *byte, an entry's first -> *decoded

	configured atomic.Uint64 // index of the newest committed configuration
}

// decoded is an entry that this server proposed. It is decoded while the disk writes it, so
// that the store need not wait for that later. Commands that the log changes, in details
// such as time zones, are decoded from the same bytes as on every other server; other
// commands are used without decoding.
type decoded struct {
	done     chan struct{}
	commands []state.Command
	err      error
}

// expect registers an entry that is about to be proposed.
func (m *machine) expect(data []byte) *decoded {
	d := &decoded{done: make(chan struct{})}
	m.early.Store(&data[0], d)
	return d
}

// decode decodes the commands of the proposals. The caller calls it once.
func (d *decoded) decode(proposals []*proposal) {
	defer close(d.done)
	for _, p := range proposals {
		commands := p.commands
		if commands == nil {
			if commands, d.err = state.DecodeAppended(p.body); d.err != nil {
				return
			}
		}
		if cap(p.body) <= maxBody {
			*p.buffer = p.body[:0]
			bodies.Put(p.buffer)
		}
		p.body, p.buffer, p.commands = nil, nil, nil
		d.commands = append(d.commands, commands...)
	}
}

// forget drops an answered entry, applied or not.
func (m *machine) forget(data []byte) { m.early.Delete(&data[0]) }

// commands returns the commands of an entry.
func (m *machine) commands(data []byte) ([]state.Command, error) {
	if len(data) > 0 {
		if d, ok := m.early.Load(&data[0]); ok {
			<-d.(*decoded).done
			return d.(*decoded).commands, d.(*decoded).err
		}
	}
	return state.DecodeCommands(data)
}

// Apply implements raft.FSM.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// applied is the answer to an entry.
type applied struct {
	index uint64  // of the state
	errs  []error // one per command
}

// ApplyBatch implements raft.BatchingFSM. The answer to a command entry is applied, or an
// error if nothing was applied.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	answers := make([]any, len(logs))
	for i, l := range logs {
		if l.Type == raft.LogConfiguration {
			m.configured.Store(max(l.Index, m.configured.Load()))
		}
		if l.Type != raft.LogCommand || l.Index <= m.store.LogIndex() {
			continue // applied before raft began, see catchUp
		}
		if err := m.failure.Load(); err != nil {
			answers[i] = *err
			continue
		}
		commands, err := m.commands(l.Data)
		if err != nil {
			// The store must not continue without this entry: its state would diverge
			// from that of the other servers.
			err = fmt.Errorf("log entry %d cannot be applied: %w; was it written by a newer version of Reeve?", l.Index, err)
			m.failure.Store(&err)
			m.damaged(err)
			answers[i] = err
			continue
		}
		index, errs := m.store.ApplyEntry(l.Index, commands)
		answers[i] = applied{index, errs}
		m.bytes.Add(int64(len(l.Data)))
	}
	if m.failure.Load() == nil && len(logs) > 0 {
		m.mark.raise(logs[len(logs)-1].Index)
	}
	return answers
}

// Snapshot implements raft.FSM.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if err := m.failure.Load(); err != nil {
		return nil, *err
	}
	m.bytes.Store(0)
	return &image{m.store.Snapshot(), &m.size}, nil
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	return m.store.Restore(r)
}

// image is a snapshot that is being written to the disk.
type image struct {
	snapshot *state.Snapshot
	size     *atomic.Int64 // where to say how large it is
}

// Persist implements raft.FSMSnapshot.
func (i *image) Persist(sink raft.SnapshotSink) error {
	size, err := i.snapshot.WriteTo(sink)
	if err != nil {
		sink.Cancel()
		return fmt.Errorf("write snapshot: %w", err)
	}
	i.size.Store(size)
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (i *image) Release() {}
