// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"encoding/json"
	"os"
	"sync"
	"time"
)

// Kinds of operations.
const (
	opRead  = "read"
	opWrite = "write"
	opCAS   = "cas"

	opSave    = "save"    // of a snapshot
	opRestore = "restore" // of the last snapshot
)

// Results of operations.
const (
	resultOK       = "ok"
	resultConflict = "conflict" // of a check-and-set that had no effect
	resultUnknown  = "unknown"
	resultNone     = "none" // certainly without effect; not in histories
)

// An operation is one call of a client and its outcome.
type operation struct {
	Register string
	Client   int
	Kind     string
	Value    string // written, or read
	Expected uint64 `json:",omitempty"` // index that a check-and-set requires
	Index    uint64 `json:",omitempty"` // index of the write, or of the value read
	Result   string
	Error    string        `json:",omitempty"`
	Call     time.Duration // since the start of the round
	Return   time.Duration // since the start of the round
}

// A history records the operations and faults of a round. It is safe for concurrent use.
type history struct {
	mu         sync.Mutex
	began      time.Time
	operations []operation
	notes      []note
}

// A note is an event of the harness, such as a fault.
type note struct {
	At   time.Duration // since the start of the round
	Text string
}

func newHistory() *history { return &history{began: time.Now()} }

// now returns the time since the start of the history.
func (h *history) now() time.Duration { return time.Since(h.began) }

// add records an operation that returned.
func (h *history) add(o operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, o)
}

// note records an event.
func (h *history) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, note{h.now(), text})
}

// byRegister groups the operations by register.
func (h *history) byRegister() map[string][]operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	grouped := map[string][]operation{}
	for _, o := range h.operations {
		grouped[o.Register] = append(grouped[o.Register], o)
	}
	return grouped
}

// indexesOf lists the indexes of the acknowledged writes to a register.
func (h *history) indexesOf(register string) (indexes []uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.operations {
		if o.Register == register && (o.Kind == opWrite || o.Kind == opCAS) && o.Result == resultOK {
			indexes = append(indexes, o.Index)
		}
	}
	return indexes
}

// A failure is the evidence of a round that violated a promise.
type failure struct {
	Seed       uint64
	Round      int
	Fault      string
	Replay     string // command that repeats the run
	Violations []string
	Undecided  []string
	Notes      []note
	Operations []operation
}

// save writes the evidence to a new file of a directory.
func (f *failure) save(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, "history-*.json")
	if err != nil {
		return "", err
	}
	defer file.Close()
	enc := json.NewEncoder(file)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return "", err
	}
	return file.Name(), file.Sync()
}
