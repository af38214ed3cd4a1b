// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// everybody is the heartbeat controller's key of all nodes.
const allNodesKey = "\x00everybody"

var silence = control.Silence{TTL: 10 * time.Second, Grace: 4 * time.Second, MassLoss: control.DefaultMassLoss}

// listener is a leader that listens to a fleet in virtual time. Its nodes say
// that they live every third of a TTL, as agents do.
type listener struct {
	*world
	beats *control.Heartbeats
	c     control.Controller
	log   *strings.Builder

	now   time.Time
	wake  time.Time
	next  map[string]time.Time // heartbeat, by node; missing: silent
	last  map[string]time.Time
	heard map[string]time.Time // when the state said that a node is gone
}

func listen(t *testing.T, nodes int) *listener {
	t.Helper()
	l := &listener{
		world: newWorld(t), beats: control.NewHeartbeats(silence), log: &strings.Builder{}, now: t0, wake: t0,
		next: map[string]time.Time{}, last: map[string]time.Time{}, heard: map[string]time.Time{},
	}
	l.c = control.NewHeartbeat(l.beats, slog.New(slog.NewTextHandler(l.log, nil)))
	l.beats.Lead(t0)
	r := rand.New(rand.NewPCG(1, 2))
	var cmds []state.Command
	for i := range nodes {
		id := fmt.Sprintf("n%05d", i)
		cmds = append(cmds, &state.RegisterNode{Node: &api.Node{ID: id, Name: id, Status: api.NodeStatusReady, ComputedClass: "c"}})
		l.next[id] = t0.Add(time.Duration(r.Int64N(int64(silence.TTL / 3))))
	}
	l.apply(cmds...)
	for _, key := range l.c.All(l.store.Snapshot()) {
		l.act(key)
	}
	return l
}

func (l *listener) act(key string) {
	cmds, wake := l.c.Act(l.store.Snapshot(), key, l.now)
	if key == allNodesKey {
		l.wake = wake
	}
	l.apply(cmds...)
	for _, cmd := range cmds {
		if u, ok := cmd.(*state.UpdateNodeStatus); ok && u.Status != api.NodeStatusReady {
			l.heard[u.NodeID] = l.now
		}
	}
}

// pass lets time go on. The process runs all the while.
func (l *listener) pass(d time.Duration) {
	const tick = 100 * time.Millisecond
	for end := l.now.Add(d); l.now.Before(end); {
		l.now = l.now.Add(tick)
		for id, at := range l.next {
			if at.After(l.now) {
				continue
			}
			l.beats.Beat(id, at)
			l.last[id], l.next[id] = at, at.Add(silence.TTL/3)
			if n := l.store.Snapshot().Node(id); n.Status != api.NodeStatusReady || n.SilentSince != 0 {
				l.apply(&state.UpdateNodeStatus{NodeID: id, Status: api.NodeStatusReady, Time: l.now.UnixNano()})
			}
		}
		l.beats.Runs(l.now)
		for range 100 {
			if l.wake.After(l.now) {
				break
			}
			l.act(allNodesKey)
		}
	}
}

// mute silences some of the nodes that speak, and names them.
func (l *listener) mute(n int) (ids []string) {
	for i := 0; len(ids) < n; i++ {
		id := fmt.Sprintf("n%05d", i)
		if _, speaks := l.next[id]; speaks {
			delete(l.next, id)
			ids = append(ids, id)
		}
	}
	return ids
}

func (l *listener) unmute(ids []string) {
	for _, id := range ids {
		l.next[id] = l.now
	}
}

func (l *listener) count(is func(*api.Node) bool) (n int) {
	for node := range l.store.Snapshot().Nodes() {
		if is(node) {
			n++
		}
	}
	return n
}

func down(n *api.Node) bool  { return n.Status == api.NodeStatusDown }
func quiet(n *api.Node) bool { return n.SilentSince != 0 }

func TestDeadNodesAreNoticedWithin15SecondsAt10000Nodes(t *testing.T) {
	l := listen(t, 10_000)
	l.pass(20 * time.Second)
	died := map[string]time.Time{}
	for range 100 { // one at a time, over half a minute
		id := l.mute(1)[0]
		died[id] = l.now
		l.pass(300 * time.Millisecond)
	}
	l.pass(15 * time.Second)
	for id, at := range died {
		noticed, ok := l.heard[id]
		if after := noticed.Sub(at); !ok || after > 15*time.Second {
			t.Errorf("node %s died at %s and was noticed after %s (noticed: %t)", id, at.Sub(t0), after, ok)
		}
	}
	if got := l.count(down); got != len(died) {
		t.Errorf("%d nodes are down, want the %d that died", got, len(died))
	}
}

func TestNewLeaderNoticesWithinOnePeriod(t *testing.T) {
	l := listen(t, 10_000)
	dead := l.mute(5) // they died with the leader before
	l.pass(15 * time.Second)
	if got := l.count(down); got != len(dead) {
		t.Errorf("15s after a new leader began, %d nodes are down, want the %d that are", got, len(dead))
	}
}

func TestMassLossIsHeldAndEndsWhenTheNodesComeBack(t *testing.T) {
	l := listen(t, 10_000)
	l.pass(20 * time.Second)
	lost := l.mute(4_000)
	l.pass(15 * time.Second)
	if got := l.count(quiet) + l.count(down); got != len(lost) {
		t.Fatalf("15s after 4000 of 10000 nodes fell silent, %d are marked, want all of them", got)
	}
	l.pass(45 * time.Second)
	given := l.count(down)
	if most := 10_000 / 20; given > most || given < most/2 {
		t.Errorf("one minute after, %d are given up, want about the 5 %% of the fleet that a minute allows", given)
	}
	n := l.store.Snapshot().Node(lost[3_999])
	if n.Status != api.NodeStatusReady || n.IsReady() || !strings.Contains(n.StatusDescription, "4000 of 10000 nodes fell silent together") {
		t.Errorf("a silent node is %s (%s), takes work: %t", n.Status, n.StatusDescription, n.IsReady())
	}
	if e := n.Events[len(n.Events)-1]; !strings.Contains(e.Message, "Node is silent") {
		t.Errorf("its last event: %q", e.Message)
	}
	l.unmute(lost)
	l.pass(time.Minute)
	if l.count(quiet) != 0 || l.count(down) != 0 || len(l.heard) > given+10 {
		t.Errorf("after they came back %d are silent, %d down, and %d were given up instead of %d", l.count(quiet), l.count(down), len(l.heard), given)
	}
	for _, line := range []string{"many nodes stopped sending heartbeats together", "the mass loss of nodes is over"} {
		if n := strings.Count(l.log.String(), line); n != 1 {
			t.Errorf("the log says %d times %q:\n%s", n, line, l.log)
		}
	}
}

func TestMassLossThatIsRealIsGivenUpInTheEnd(t *testing.T) {
	l := listen(t, 1_000)
	l.pass(20 * time.Second)
	l.mute(400)
	l.pass(9 * time.Minute) // 50 a minute, and the last 20 at once
	if got := l.count(down); got != 400 {
		t.Errorf("%d nodes are down, want all 400 that are gone", got)
	}
	one := l.mute(1)[0]
	at := l.now
	l.pass(15 * time.Second)
	if after := l.heard[one].Sub(at); after > 15*time.Second || after <= 0 {
		t.Errorf("after the mass loss a dead node was noticed after %s", after)
	}
}

func TestWhenNobodyIsHeardNobodyIsGivenUp(t *testing.T) {
	l := listen(t, 1_000)
	l.pass(20 * time.Second)
	all := l.mute(1_000)
	l.pass(10 * time.Minute)
	if got := l.count(down); got != 0 {
		t.Fatalf("%d nodes were given up by servers that hear nobody", got)
	}
	if n := l.store.Snapshot().Node(all[0]); !strings.Contains(n.StatusDescription, "none of 1000 nodes is heard") {
		t.Errorf("a node's description: %q", n.StatusDescription)
	}
	l.unmute(all)
	l.pass(time.Minute)
	if l.count(down)+l.count(quiet) != 0 {
		t.Errorf("%d nodes are down and %d silent after all came back", l.count(down), l.count(quiet))
	}
}

func TestFewNodesAreNoMassLoss(t *testing.T) {
	l := listen(t, 10)
	l.pass(20 * time.Second)
	l.mute(10)
	l.pass(15 * time.Second)
	if got := l.count(down); got != 10 {
		t.Errorf("%d of 10 nodes are down, want all", got)
	}
}

func TestServerThatStoodStillGivesEverybodyAWholePeriod(t *testing.T) {
	l := listen(t, 15)
	l.pass(20 * time.Second)
	l.now = l.now.Add(10 * time.Minute) // SIGSTOP: nobody was heard meanwhile
	l.act(allNodesKey)
	if got := l.count(down); got != 0 {
		t.Fatalf("%d nodes are down because the server stood still", got)
	}
	for id := range l.next {
		l.next[id] = l.now.Add(time.Second)
	}
	dead := l.mute(2)
	at := l.now
	l.pass(15 * time.Second)
	for _, id := range dead {
		if after := l.heard[id].Sub(at); after <= 10*time.Second || after > 15*time.Second {
			t.Errorf("node %s was noticed %s after the pause, want it after a whole period", id, after)
		}
	}
	if got := l.count(down); got != len(dead) {
		t.Errorf("%d nodes are down, want %d", got, len(dead))
	}
}

func TestSilentNodeIsDisconnectedWhereAGroupWaits(t *testing.T) {
	l := listen(t, 2)
	hour := time.Hour
	l.apply(&state.RegisterJob{Job: &api.Job{ID: "web", Namespace: "default", Type: api.JobTypeService, SubmitTime: t0.UnixNano(),
		Groups: []*api.Group{{Name: "g", Disconnect: &api.Disconnect{LostAfter: &hour}}}}})
	job := l.store.Snapshot().Job("default", "web")
	l.apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Time: t0.UnixNano(), Place: []*api.Allocation{{
		ID: "a", Namespace: "default", JobID: "web", Job: job, Group: "g", NodeID: "n00000", Name: "web.g[0]",
	}}}})
	l.mute(2)
	l.pass(15 * time.Second)
	snap := l.store.Snapshot()
	if a, b := snap.Node("n00000").Status, snap.Node("n00001").Status; a != api.NodeStatusDisconnected || b != api.NodeStatusDown {
		t.Fatalf("with an allocation that waits the node is %s, without it %s; want disconnected and down", a, b)
	}
	since := time.Unix(snap.Node("n00000").StatusUpdatedAt, 0)
	l.now = since.Add(hour - time.Second)
	cmds, wake := l.c.Act(snap, "n00000", l.now)
	if len(cmds) != 0 || !wake.Equal(since.Add(hour)) {
		t.Errorf("a second before lost_after is over: %v, and the node is looked at again after %s, want 1h", cmds, wake.Sub(since))
	}
	l.now = since.Add(hour)
	l.act("n00000")
	if at := l.store.Snapshot().Node("n00000").StatusUpdatedAt; at != since.Unix() {
		t.Errorf("a node that is given up counts as away since %s, want since it was disconnected", time.Unix(at, 0).Sub(since))
	}
	if got := l.store.Snapshot().Node("n00000").Status; got != api.NodeStatusDown {
		t.Errorf("at the end of lost_after the node is %s", got)
	}
	returns := control.ReturnEvaluations(snap, "n00000", map[api.NamespacedID]bool{}, l.now)
	if len(returns) != 1 || returns[0].TriggeredBy != api.TriggerAllocReconnect {
		t.Errorf("when it comes back from being disconnected: %v, want one evaluation for the reconnect", returns)
	}
}

// BenchmarkHeartbeats is the cost of one heartbeat in the leader's memory, with
// all nodes listened to.
func BenchmarkHeartbeats(b *testing.B) {
	for _, nodes := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			h := control.NewHeartbeats(silence)
			h.Lead(t0)
			ids := make([]string, nodes)
			for i := range ids {
				ids[i] = api.NewID()
				h.Beat(ids[i], t0)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h.Beat(ids[i%nodes], t0)
			}
		})
	}
}
