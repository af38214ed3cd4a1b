// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk/hostile"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// stoppable is a disk whose syncs hang while it is stopped.
type stoppable struct {
	*hostile.FS
	gate atomic.Pointer[chan struct{}]
}

func newStoppable() *stoppable {
	d := &stoppable{FS: hostile.New(1)}
	d.Judge = func(c hostile.Call) (f hostile.Fault) {
		if gate := d.gate.Load(); gate != nil && c.Verb == "sync" {
			f.Wait = *gate
		}
		return f
	}
	return d
}

func (d *stoppable) stop() {
	gate := make(chan struct{})
	d.gate.Store(&gate)
}

func (d *stoppable) goOn() {
	if gate := d.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	wait.Until(t, what, holds)
}

func TestHangingDiskGivesUpLeadership(t *testing.T) {
	var servers []raft.Server
	transports := map[raft.ServerID]*raft.InmemTransport{}
	for i := range 3 {
		id := raft.ServerID(fmt.Sprint("server-", i))
		_, transports[id] = raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 50*time.Millisecond)
		servers = append(servers, raft.Server{ID: id, Address: raft.ServerAddress(id)})
	}
	for a, from := range transports {
		for b, to := range transports {
			if a != b {
				from.Connect(raft.ServerAddress(b), to)
			}
		}
	}
	disks, replicas := map[raft.ServerID]*stoppable{}, map[raft.ServerID]*Replica{}
	for id, transport := range transports {
		disks[id] = newStoppable()
		r, err := Open(Config{Dir: t.TempDir(), FS: disks[id], Store: state.New(), ServerID: string(id), Transport: transport, Servers: servers})
		if err != nil {
			t.Fatal(err)
		}
		replicas[id] = r
		t.Cleanup(func() {
			disks[id].goOn()
			r.Close()
		})
	}
	leader := func(except raft.ServerID) (is raft.ServerID) {
		t.Helper()
		eventually(t, "a server leads", func() bool {
			for id, r := range replicas {
				if id != except && r.IsLeader() {
					is = id
				}
			}
			return is != ""
		})
		return is
	}
	write := func(except raft.ServerID, job string) {
		t.Helper()
		eventually(t, "a write succeeds", func() bool {
			_, err := replicas[leader(except)].Propose(t.Context(), register(job))
			return err == nil
		})
	}
	write("", "before")
	slow := leader("")
	disks[slow].stop()
	proposed := make(chan struct{})
	go func() {
		defer close(proposed)
		_, _ = replicas[slow].Propose(t.Context(), register("meanwhile"))
	}()
	next := leader(slow)
	write(slow, "by-the-next")
	r := replicas[slow]
	if why, writable := r.Degraded(); !strings.Contains(why, "slow") || !writable {
		t.Errorf("the server %s says %q, %t", slow, why, writable)
	}
	if c := r.raft.ReloadableConfig(); c.ElectionTimeout != neverStands {
		t.Errorf("the disk hangs, and the server stands for leadership after %s", c.ElectionTimeout)
	}

	disks[slow].goOn()
	<-proposed
	eventually(t, "the server knows what the next leader wrote", func() bool { return has(r.config.Store, "by-the-next") })
	eventually(t, "the server is well", func() bool {
		why, _ := r.Degraded()
		return why == "" && r.raft.ReloadableConfig().ElectionTimeout == r.config.ElectionTimeout
	})
	if !has(r.config.Store, "before") || r.IsLeader() && leader("") != slow {
		t.Errorf("%s leads beside %s, or lost what was acknowledged", slow, next)
	}
}

func TestSlowDiskAlone(t *testing.T) {
	d := newStoppable()
	r, err := Open(Config{Dir: t.TempDir(), FS: d, Store: state.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.goOn()
		r.Close()
	})
	eventually(t, "the server leads", r.IsLeader)
	d.stop()
	proposed := make(chan error, 1)
	go func() {
		_, err := r.Propose(t.Context(), register("slow"))
		proposed <- err
	}()
	eventually(t, "the server says that its disk is slow", func() bool {
		why, writable := r.Degraded()
		return strings.Contains(why, "slow") && writable
	})
	d.goOn()
	if err := <-proposed; err != nil || !r.IsLeader() {
		t.Errorf("the write: %v; the server leads: %t", err, r.IsLeader())
	}
	eventually(t, "the server is well", func() bool {
		why, _ := r.Degraded()
		return why == "" && r.IsLeader()
	})
}

// TestFailedSyncIsTold has the last acknowledged write survive a sync that fails,
// and the owner of the process be told once.
func TestFailedSyncIsTold(t *testing.T) {
	fs := hostile.New(1)
	var fail atomic.Bool
	fs.Judge = func(c hostile.Call) (f hostile.Fault) {
		if c.Verb == "sync" && strings.HasSuffix(c.Path, ".log") && fail.Load() {
			f.Err = errInjected
		}
		return f
	}
	dir, broken := t.TempDir(), make(chan error, 8)
	open := func() (*Replica, *state.Store) {
		store := state.New()
		r, err := Open(Config{Dir: dir, FS: fs, Store: store, Broken: func(err error) { broken <- err }})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server leads", r.IsLeader)
		return r, store
	}
	r, _ := open()
	if _, err := r.Propose(t.Context(), register("acknowledged")); err != nil {
		t.Fatal(err)
	}
	fail.Store(true)
	if _, err := r.Propose(t.Context(), register("refused")); err == nil || !strings.Contains(err.Error(), "not known what reached the disk") {
		t.Errorf("a write whose sync failed: %v", err)
	}
	if err := <-broken; !strings.Contains(err.Error(), "check the disk, then start the server again") {
		t.Errorf("what the owner is told: %v", err)
	}
	fail.Store(false)
	if _, err := r.Propose(t.Context(), register("later")); err == nil {
		t.Error("a write after a sync that failed succeeds")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	fs.Reboot()
	r, store := open()
	defer r.Close()
	if !has(store, "acknowledged") || has(store, "later") || len(broken) > 0 {
		t.Errorf("afterwards acknowledged is there: %t, what came later: %t; told %d times more", has(store, "acknowledged"), has(store, "later"), len(broken))
	}
}
