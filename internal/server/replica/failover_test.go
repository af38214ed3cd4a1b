// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestKilledLeader breaks all connections of the leader. Another server leads, and has
// every acknowledged write.
func TestKilledLeader(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "before")
	killed := f.leader("")
	f.each(killed, (*link).sever)
	f.write(killed, "after")
	next := f.leader(killed)
	if !has(f.replicas[next].config.Store, "before") {
		t.Errorf("%s leads, and lacks an acknowledged write", next)
	}
	id, address := f.replicas[next].LeaderAddr()
	if id != next || address != f.address(next) {
		t.Errorf("%s leads, and takes %s at %s for the leader", next, id, address)
	}
	f.each(killed, (*link).heal)
	f.knows(killed, "after")
	eventually(t, "the followers know the leader", func() bool {
		for _, r := range f.replicas {
			if id, address := r.LeaderAddr(); id == "" || address != f.address(id) || id != f.leader("") {
				return false
			}
		}
		return true
	})
}

// TestPartitionedLeader holds the leader's traffic back, without resets. It commits nothing
// any more, also not later, and steps down.
func TestPartitionedLeader(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "before")
	alone := f.leader("")
	f.each(alone, (*link).pause)
	late := make(chan error, 1)
	go func() {
		_, err := f.replicas[alone].Propose(t.Context(), register("late"))
		late <- err
	}()
	f.write(alone, "after")
	if err := <-late; err == nil {
		t.Error("a leader without a majority acknowledged a write")
	}
	eventually(t, "the partitioned server steps down", func() bool { return !f.replicas[alone].IsLeader() })
	if _, err := f.replicas[alone].ReadIndex(t.Context()); err == nil {
		t.Error("a server without a majority confirms a read")
	}
	f.each(alone, (*link).heal)
	f.knows(alone, "after")
	for id, r := range f.replicas {
		if has(r.config.Store, "late") {
			t.Errorf("%s has a write that its proposer was told to look for, although another leader wrote meanwhile", id)
		}
	}
}

// TestLaggingServer has a server miss more entries than the log keeps. It gets a snapshot.
func TestLaggingServer(t *testing.T) {
	f := newFleet(t, 3, Config{TrailingEntries: 4})
	f.write("", "before")
	lagging := "server-0"
	if f.leader("") == lagging {
		f.change("transfer", func(r *Replica) error { return r.Transfer(t.Context(), "") })
	}
	eventually(t, "another server leads", func() bool { return f.leader("") != lagging })
	f.each(lagging, (*link).sever)
	if err := f.replicas[lagging].Close(); err != nil {
		t.Fatal(err)
	}
	delete(f.replicas, lagging)
	for i := range 40 {
		f.write("", fmt.Sprint("meanwhile-", i))
	}
	f.change("take a snapshot", (*Replica).Snapshot)
	f.write("", "after")
	f.each(lagging, (*link).heal)
	f.open(lagging)
	f.knows(lagging, "after")
	f.knows(lagging, "meanwhile-0")
	eventually(t, "it got a snapshot", func() bool { return f.replicas[lagging].Stats().SnapshotIndex > 0 })
}

// TestHangingDiskInANetwork hangs the leader's disk: another server leads, within seconds.
func TestHangingDiskInANetwork(t *testing.T) {
	disks := map[string]*stoppable{}
	for i := range 3 {
		disks[fmt.Sprint("server-", i)] = newStoppable()
	}
	f := newFleetOn(t, disks)
	t.Cleanup(func() {
		for _, d := range disks {
			d.goOn()
		}
	})
	f.write("", "before")
	slow := f.leader("")
	disks[slow].stop()
	began := time.Now()
	proposed := make(chan error, 1)
	go func() {
		_, err := f.replicas[slow].Propose(t.Context(), register("meanwhile"))
		proposed <- err
	}()
	f.write(slow, "by-the-next")
	t.Logf("the next leader wrote %s after the leader's disk began to hang", time.Since(began).Round(time.Millisecond))
	disks[slow].goOn()
	if err := <-proposed; err == nil && !has(f.replicas[f.leader(slow)].config.Store, "meanwhile") {
		t.Error("the slow leader acknowledged a write that the next one lacks")
	}
	f.knows(slow, "by-the-next")
}

func newFleetOn(t *testing.T, disks map[string]*stoppable) *fleet {
	t.Helper()
	f := newFleet(t, 0, Config{})
	for id, d := range disks {
		f.disks[id] = d
	}
	for i := range len(disks) {
		f.join(fmt.Sprint("server-", i))
	}
	return f
}

// TestPlannedEnd closes the leader: another one leads without an election timeout, and no
// acknowledged write is lost.
func TestPlannedEnd(t *testing.T) {
	f := newFleet(t, 3, Config{ElectionTimeout: 20 * time.Second})
	f.write("", "before")
	old := f.leader("")
	began := time.Now()
	if err := f.replicas[old].Close(); err != nil {
		t.Fatal(err)
	}
	delete(f.replicas, old)
	f.write("", "after")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the next leader wrote %s after the planned end: leadership was not transferred", took)
	}
	if next := f.leader(""); !has(f.replicas[next].config.Store, "before") {
		t.Error("the next leader lacks an acknowledged write")
	}
}

// TestLeadershipLostAndRegained has a reader of LeaderCh miss the time between two
// leaderships. The numbers tell them apart.
func TestLeadershipLostAndRegained(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "before")
	first := f.leader("")
	number := f.replicas[first].Reign()
	if number == 0 {
		t.Fatal("the leader's reign has no number")
	}
	f.change("transfer", func(r *Replica) error { return r.Transfer(t.Context(), "") })
	eventually(t, "the first leader leads again", func() bool {
		leader := f.leader("")
		if leader != first {
			_ = f.replicas[leader].Transfer(t.Context(), first)
			return false
		}
		return f.replicas[first].Reign() > number
	})
	eventually(t, "the channel has the newest number", func() bool {
		select {
		case got := <-f.replicas[first].LeaderCh():
			return got == f.replicas[first].Reign()
		case <-wait.Limit(t, time.Second):
			return false
		}
	})
}

// BenchmarkFailover measures the time from the end of the leader's connections to the next
// acknowledged write, on real disks and over TLS.
func BenchmarkFailover(b *testing.B) {
	f := newFleet(b, 3, Config{})
	f.write("", "begin")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		killed := f.leader("")
		began := time.Now()
		f.each(killed, (*link).sever)
		f.write(killed, fmt.Sprint("job-", i))
		took = append(took, time.Since(began))
		b.StopTimer()
		f.each(killed, (*link).heal)
		f.knows(killed, fmt.Sprint("job-", i))
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
}

// TestBrokenPeer has a peer announce a large message and send nothing, send garbage, and
// open too many connections: it takes little memory, and the cluster works.
func TestBrokenPeer(t *testing.T) {
	f := newFleet(t, 1, Config{})
	dial := f.dial("broken")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	connect := func() net.Conn {
		c, err := dial(t.Context(), f.address("server-0"))
		if err != nil {
			return nil
		}
		conns = append(conns, c)
		return c
	}
	for _, message := range []string{
		"\x00\x81\xa7Entries\xdd\x7f\xff\xff\xff", // append: two thousand million entries
		"\x00\x81\xa6Leader\xc6\x7f\xff\xff\xff",  // append: 2 GB of address
		"\x02\x81\xadConfiguration\xc6\x7f\xff\xff\xffx",
		"\xff garbage", strings.Repeat("\x00", 64<<10),
	} {
		if _, err := connect().Write([]byte(message)); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Logf("the server closed the connection: %v", err)
		}
	}
	refused := 0
	for range maxStreams + 8 {
		if connect() == nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("a peer may open any number of connections")
	}
	f.write("", "works")
}

// TestEmptyServerWaits opens a server without Bootstrap: it leads nothing, refuses writes,
// and follows once a leader adds it.
func TestEmptyServerWaits(t *testing.T) {
	f := newFleet(t, 1, Config{})
	f.write("", "before")
	f.dirs["server-1"] = t.TempDir()
	waiting := f.open("server-1")
	if !waiting.IsEmpty() || waiting.IsLeader() {
		t.Errorf("a server that waits is empty: %t, leads: %t", waiting.IsEmpty(), waiting.IsLeader())
	}
	if _, err := waiting.Propose(t.Context(), register("none")); err == nil {
		t.Error("a server without a cluster accepts a write")
	}
	leader := f.replicas["server-0"]
	if err := leader.AddNonvoter(t.Context(), "server-1", f.address("server-1")); err != nil {
		t.Fatal(err)
	}
	f.knows("server-1", "before")
	peers, err := waiting.Servers()
	if err != nil || len(peers) != 2 || peers[1] != (Peer{ID: "server-1", Address: f.address("server-1")}) {
		t.Errorf("the servers are %+v, %v", peers, err)
	}
	eventually(t, "the leader knows the health of the new server", func() bool {
		h := leader.PeerHealth()["server-1"]
		return h.Contacted && h.Trailing == 0 && h.LastIndex > 1 && h.LastContact < time.Second
	})
	if err := leader.AddVoter(t.Context(), "server-1", f.address("server-1")); err != nil {
		t.Fatal(err)
	}
	if err := leader.Transfer(t.Context(), "server-1"); err != nil {
		t.Fatal(err)
	}
	f.write("server-0", "after")
	if h := leader.PeerHealth(); h != nil {
		t.Errorf("a follower reports the health of its peers: %v", h)
	}
}

// TestRemovedServer removes a server, and the last voter: the former says so, the latter is
// refused.
func TestRemovedServer(t *testing.T) {
	f := newFleet(t, 2, Config{})
	f.write("", "before")
	leader := f.leader("")
	other := map[string]string{"server-0": "server-1", "server-1": "server-0"}[leader]
	if err := f.replicas[leader].Remove(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "not found: see reeve server list") {
		t.Errorf("the removal of an unknown server: %v", err)
	}
	if err := f.replicas[leader].Remove(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	f.write("", "after")
	if err := f.replicas[leader].Remove(t.Context(), leader); err == nil || !strings.Contains(err.Error(), "the only voter") {
		t.Errorf("the removal of the last voter: %v", err)
	}
	eventually(t, "the removed server says so", func() bool {
		why, writable := f.replicas[other].Degraded()
		return strings.Contains(why, "was removed from the cluster") && !writable
	})
	if why, writable := f.replicas[leader].Degraded(); why != "" || !writable {
		t.Errorf("the remaining server says %q, %t", why, writable)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.replicas[leader].AddVoter(ctx, other, f.address(other)); !errors.Is(err, context.Canceled) {
		t.Errorf("a change whose caller left: %v", err)
	}
}

// TestMovedLeader restarts the only server at another address: it records the address.
func TestMovedLeader(t *testing.T) {
	f := newFleet(t, 1, Config{})
	f.write("", "before")
	old := f.address("server-0")
	if err := f.replicas["server-0"].Close(); err != nil {
		t.Fatal(err)
	}
	f.listeners = map[string]net.Listener{"taken": f.listen("server-0")}
	defer f.listeners["taken"].Close()
	f.open("server-0")
	eventually(t, "the configuration has the new address", func() bool {
		peers, err := f.replicas["server-0"].Servers()
		return err == nil && len(peers) == 1 && peers[0].Address != old && peers[0].Address == f.address("server-0")
	})
	// The index is that of a committed entry, which follows.
	eventually(t, "the newest configuration has an entry of its own", func() bool { return f.replicas["server-0"].ConfigurationIndex() >= 2 })
	if !has(f.replicas["server-0"].config.Store, "before") {
		t.Error("the write is lost")
	}
}

// BenchmarkFollowerLearns measures the time from the acknowledgement of a write on an idle
// cluster until a follower has applied it.
func BenchmarkFollowerLearns(b *testing.B) {
	f := newFleet(b, 3, Config{})
	f.write("", "before")
	leader := f.leader("")
	var follower *Replica
	for id, r := range f.replicas {
		if id != leader {
			follower = r
		}
	}
	var gaps []time.Duration
	for i := 0; b.Loop(); i++ {
		index, err := f.replicas[leader].Propose(b.Context(), register(fmt.Sprint("job-", i)))
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := follower.config.Store.Wait(b.Context(), index); err != nil {
			b.Fatal(err)
		}
		gaps = append(gaps, time.Since(began))
	}
	slices.Sort(gaps)
	b.ReportMetric(float64(gaps[len(gaps)/2].Microseconds()), "us-p50")
	b.ReportMetric(float64(gaps[len(gaps)*99/100].Microseconds()), "us-p99")
}
