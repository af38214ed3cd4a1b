// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/server/replica/disk/hostile"
	"github.com/reeve-run/reeve/internal/server/replica/snapshots"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// keeper writes a log, votes and snapshots as raft does, on a hostile disk, and
// knows what was acknowledged. The data of an entry is its index, its term and
// which attempt at it that was.
type keeper struct {
	t      *testing.T
	name   string // of the run
	fs     *hostile.FS
	rng    *rand.Rand
	log    *wal.Log
	stable *wal.Stable
	images *snapshots.Store
	broken error // a sync that failed

	next     uint64            // index of the next entry
	written  map[string]uint64 // data of every entry that was handed to the log and not deleted -> index
	acked    map[uint64]string // data, of entries that were acknowledged and not deleted
	vote     uint64            // acknowledged
	tried    uint64            // vote that was handed over last
	snapshot uint64            // acknowledged
	attempts int
}

const keeperDir = "/data/server"

// open opens everything, and checks it. It returns false when the machine went
// down meanwhile, or a call was made to fail.
func (k *keeper) open() bool {
	k.t.Helper()
	k.broken = nil
	opened := k.tryOpen()
	switch {
	case opened == nil:
		k.check()
		return true
	case errors.Is(opened, hostile.ErrDown), errors.Is(opened, errInjected), errors.Is(opened, syscall.ENOSPC):
		return false
	}
	k.t.Fatalf("%s: open: %v", k.name, opened)
	return false
}

func (k *keeper) tryOpen() (err error) {
	logDir := keeperDir + "/log"
	if err = disk.MakeDir(k.fs, logDir); err != nil {
		return err
	}
	if k.images, err = snapshots.Open(k.fs, keeperDir+"/snapshots"); err != nil {
		return err
	}
	newest, err := k.images.Newest()
	if err != nil {
		return err
	}
	names, err := k.fs.ReadDir(logDir)
	if err != nil {
		return err
	}
	fresh := newest == nil
	for _, name := range names {
		fresh = fresh && !strings.HasSuffix(name, ".log")
	}
	watch := wal.Watch{Broken: func(err error) { k.broken = err }}
	if k.stable, err = wal.OpenStable(k.fs, logDir, fresh, watch); err != nil {
		return err
	}
	upTo := uint64(0)
	if newest != nil {
		upTo = newest.Index
	}
	if k.log, err = wal.Open(k.fs, logDir, 4096, upTo, watch); err != nil {
		return err
	}
	if newest != nil {
		return k.log.Rebase(newest.Index, newest.Term)
	}
	return nil
}

// check compares what is on the disk with what was acknowledged.
func (k *keeper) check() {
	k.t.Helper()
	vote, err := k.stable.GetUint64([]byte("CurrentTerm"))
	if err != nil || vote != k.vote && vote != k.tried {
		k.t.Fatalf("%s: the vote is %d, %v; %d was acknowledged, %d was tried", k.name, vote, err, k.vote, k.tried)
	}
	k.vote = vote
	held := k.checkSnapshot()
	first, _ := k.log.FirstIndex()
	last, _ := k.log.LastIndex()
	if last > 0 && first > held+1 {
		k.t.Fatalf("%s: the log begins with entry %d, the snapshot ends with %d", k.name, first, held)
	}
	for index, want := range k.acked {
		if index <= held {
			continue
		}
		var e raft.Log
		if err := k.log.GetLog(index, &e); err != nil || string(e.Data) != want {
			k.t.Fatalf("%s: entry %d of %d to %d is %.30q, %v; %.30q was acknowledged", k.name, index, first, last, e.Data, err, want)
		}
	}
	for index := max(first, held+1); index <= last; index++ {
		var e raft.Log
		if err := k.log.GetLog(index, &e); err != nil || k.written[string(e.Data)] != index || e.Index != index {
			k.t.Fatalf("%s: entry %d is %.30q, %v, which nobody wrote", k.name, index, e.Data, err)
		}
		k.acked[index] = string(e.Data) // from now on it is the log's
	}
	k.next = max(last, held) + 1
}

func (k *keeper) checkSnapshot() (held uint64) {
	k.t.Helper()
	newest, err := k.images.Newest()
	if err != nil {
		k.t.Fatalf("%s: %v", k.name, err)
	}
	if newest == nil {
		if k.snapshot > 0 {
			k.t.Fatalf("%s: no snapshot is left; one of entry %d was acknowledged", k.name, k.snapshot)
		}
		return 0
	}
	_, r, err := k.images.Open(newest.ID)
	if err != nil {
		k.t.Fatalf("%s: %v", k.name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(b, stateOf(newest.Index)) || newest.Index < k.snapshot {
		k.t.Fatalf("%s: the newest snapshot is of entry %d with %d bytes, %v; one of entry %d was acknowledged", k.name, newest.Index, len(b), err, k.snapshot)
	}
	k.snapshot = newest.Index
	return newest.Index
}

func stateOf(index uint64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "state of entry %d ", index), 100)
}

// step does one of the things that raft does. It returns false when the disk is
// not to be used any more.
func (k *keeper) step() bool {
	var err error
	switch n := k.rng.IntN(10); {
	case n < 6:
		err = k.append()
	case n < 7:
		err = k.elect()
	case n < 8:
		err = k.overwrite()
	default:
		err = k.compact()
	}
	return k.broken == nil && !errors.Is(err, hostile.ErrDown)
}

func (k *keeper) append() error {
	batch := make([]*raft.Log, 1+k.rng.IntN(4))
	k.attempts++
	for i := range batch {
		data := fmt.Sprintf("entry %d term %d attempt %d %s", k.next+uint64(i), k.vote, k.attempts, strings.Repeat("x", k.rng.IntN(900)))
		batch[i] = &raft.Log{Index: k.next + uint64(i), Term: k.vote, Type: raft.LogCommand, Data: []byte(data)}
		k.written[data] = k.next + uint64(i)
	}
	if err := k.log.StoreLogs(batch); err != nil {
		return err
	}
	for _, e := range batch {
		k.acked[e.Index] = string(e.Data)
	}
	k.next += uint64(len(batch))
	return nil
}

func (k *keeper) elect() error {
	k.tried = k.vote + 1
	if err := k.stable.SetUint64([]byte("CurrentTerm"), k.tried); err != nil {
		return err
	}
	k.vote = k.tried
	return nil
}

// overwrite deletes the newest entries, as another leader has it. From then on
// they do not count as acknowledged, deleted or not.
func (k *keeper) overwrite() error {
	last, _ := k.log.LastIndex()
	first, _ := k.log.FirstIndex()
	from := max(first, k.snapshot+1)
	if last <= from {
		return nil
	}
	from += uint64(k.rng.IntN(int(last - from)))
	for i := from; i <= last; i++ {
		delete(k.acked, i)
	}
	if err := k.log.DeleteRange(from, last); err != nil {
		return err
	}
	maps.DeleteFunc(k.written, func(_ string, index uint64) bool { return index >= from })
	k.next = from
	return nil
}

func (k *keeper) compact() error {
	last, _ := k.log.LastIndex()
	if last <= k.snapshot {
		return nil
	}
	var e raft.Log
	if err := k.log.GetLog(last, &e); err != nil {
		return err
	}
	sink, err := k.images.Create(1, last, e.Term, raft.Configuration{}, 0, nil)
	if err != nil {
		return err
	}
	if _, err := sink.Write(stateOf(last)); err != nil {
		_ = sink.Cancel()
		return err
	}
	if err := sink.Close(); err != nil {
		return err
	}
	k.snapshot = last
	if err := k.log.Rebase(last, e.Term); err != nil {
		return err
	}
	first, _ := k.log.FirstIndex()
	if to := last - min(last, 3); to >= first {
		return k.log.DeleteRange(first, to)
	}
	return nil
}

var errInjected = errors.New("injected")

// live runs a life of the keeper, in which the nth call meets its fault; 0 for
// none. It returns how many calls there were.
func live(t *testing.T, seed uint64, nth int, fault hostile.Fault, powerFails bool) int {
	t.Helper()
	fs := hostile.New(seed)
	k := &keeper{
		t: t, fs: fs, rng: rand.New(rand.NewPCG(seed, 2)), written: map[string]uint64{}, acked: map[uint64]string{},
		name: fmt.Sprintf("seed %d, call %d, fault %+v, power fails %t", seed, nth, fault, powerFails), next: 1,
	}
	fs.Judge = func(c hostile.Call) hostile.Fault {
		if c.N == nth {
			k.name += fmt.Sprintf(" at %s %s", c.Verb, c.Path)
			return fault
		}
		return hostile.Fault{}
	}
	again := func() {
		if powerFails {
			fs.Reboot()
		} else {
			fs.Restart()
		}
	}
	const lives, steps = 3, 14
	for range lives {
		for !k.open() {
			again()
		}
		for range steps {
			if !k.step() {
				break
			}
		}
		// A process that is killed first, and a power failure later: what the next
		// process relied on has to be on the disk by then.
		fs.Restart()
		for !k.open() {
			again()
		}
		again()
	}
	for !k.open() {
		again()
	}
	return fs.Calls()
}

// seeds is how many different lives are lived, each with every fault.
const seeds = 1

// TestEveryCrashAndFailure ends the machine, or the process, at every single call
// to the disk, and makes every single one fail.
func TestEveryCrashAndFailure(t *testing.T) {
	bubble.Test(t, everyCrashAndFailure) // a failed append takes its time
}

func everyCrashAndFailure(t *testing.T) {
	for seed := range uint64(seeds) {
		calls := live(t, seed, 0, hostile.Fault{}, true)
		if calls < 200 {
			t.Fatalf("a life has %d calls: it does too little", calls)
		}
		for nth := 1; nth <= calls; nth++ {
			for _, powerFails := range []bool{true, false} {
				live(t, seed, nth, hostile.Fault{Crash: true}, powerFails)
				live(t, seed, nth, hostile.Fault{Err: errInjected}, powerFails)
				live(t, seed, nth, hostile.Fault{Err: syscall.ENOSPC}, powerFails)
			}
		}
	}
}

// TestFailedSyncIsNotTriedAgain counts what happens to a file after its sync
// failed.
func TestFailedSyncIsNotTriedAgain(t *testing.T) {
	fs := hostile.New(1)
	k := &keeper{t: t, fs: fs, rng: rand.New(rand.NewPCG(1, 2)), written: map[string]uint64{}, acked: map[uint64]string{}, name: "failed sync", next: 1}
	var failed string
	after := 0
	fs.Judge = func(c hostile.Call) hostile.Fault {
		switch {
		case c.Path == failed:
			after++
		case failed == "" && c.Verb == "sync" && strings.HasSuffix(c.Path, ".log") && k.next > 10:
			failed = c.Path
			return hostile.Fault{Err: syscall.EIO}
		}
		return hostile.Fault{}
	}
	if !k.open() {
		t.Fatal("not opened")
	}
	for k.broken == nil {
		_ = k.append()
	}
	for range 3 {
		if err := k.append(); err == nil || !strings.Contains(err.Error(), "not known what reached the disk") || !errors.Is(err, syscall.EIO) {
			t.Fatalf("an append after a sync that failed: %v", err)
		}
	}
	if err := k.log.DeleteRange(1, 2); err == nil {
		t.Error("entries are deleted after a sync that failed")
	}
	if after != 0 {
		t.Errorf("%d more calls to %s after its sync failed", after, failed)
	}
	if _, err := os.Stat(failed); err == nil {
		t.Errorf("%s is on the machine's own disk", failed)
	}
}
