// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
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
	notices notices
	results results
	early   sync.Map // *byte, an entry's first -> *decoded

	arrived    appliedIndex  // with the entries that the store does not receive
	configured atomic.Uint64 // index of the newest committed configuration
	seen       atomic.Uint64 // index of the last entry that raft has passed on
}

// errReplaying is the failure of a snapshot that would claim to end before its state does.
var errReplaying = errors.New("the server still reads its log: try again in a moment")

// replays reports whether raft still passes on entries that catchUp has applied. A snapshot
// has the index of the last entry that raft has passed on, so its state would be ahead.
func (m *machine) replays() bool { return m.seen.Load() < m.store.LogIndex() }

// decoded is an entry that this server proposed. It is decoded while the disk writes it, so
// that the store need not wait for that later. Commands that the log changes, in details
// such as time zones, are decoded from the same bytes as on every other server; other
// commands are used without decoding.
type decoded struct {
	done     chan struct{}
	commands []state.Command
	err      error
	term     atomic.Uint64 // of its leader; 0 until it is in the log
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
	if last := len(logs) - 1; last >= 0 {
		m.notices.commit(logs[last].Index, logs[last].Term)
	}
	for i, l := range logs {
		answers[i] = m.apply(l, func() ([]state.Command, error) { return m.commands(l.Data) })
	}
	if len(logs) == 0 {
		return answers
	}
	last := logs[len(logs)-1].Index
	m.seen.Store(last)
	if m.failure.Load() == nil {
		m.mark.raise(last)
		m.arrived.raise(last)
	}
	return answers
}

// apply applies one entry, unless it was applied before raft began; see catchUp.
func (m *machine) apply(l *raft.Log, decode func() ([]state.Command, error)) any {
	if l.Type == raft.LogConfiguration {
		m.configured.Store(max(l.Index, m.configured.Load()))
	}
	if l.Type != raft.LogCommand || l.Index <= m.store.LogIndex() {
		return nil
	}
	if err := m.failure.Load(); err != nil {
		return *err
	}
	commands, err := decode()
	if err != nil {
		// The store must not continue without this entry: its state would diverge
		// from that of the other servers.
		if newer := (*state.NewerError)(nil); errors.As(err, &newer) {
			err = fmt.Errorf("cannot apply log entry %d: %w", l.Index, newer)
		} else {
			err = fmt.Errorf("log entry %d cannot be applied: %w; was it written by a newer version of Reeve?", l.Index, err)
		}
		m.failure.Store(&err)
		m.damaged(err)
		return err
	}
	index, errs := m.store.ApplyEntry(l.Index, commands)
	m.bytes.Add(int64(len(l.Data)))
	answer := applied{index, errs}
	m.results.keep(l, answer)
	return answer
}

// Snapshot implements raft.FSM.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if err := m.failure.Load(); err != nil {
		return nil, *err
	}
	if m.replays() {
		return nil, errReplaying
	}
	m.bytes.Store(0)
	return &image{m.store.Snapshot(), &m.size}, nil
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	if err := m.store.Restore(r); err != nil {
		return err
	}
	m.seen.Store(m.store.LogIndex())
	return nil
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
