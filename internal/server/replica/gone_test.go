// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// long is an election timeout that a test does not wait for: elections have another cause.
const long = 4 * time.Second

// allKnow waits until every server has a write, and so knows the leader.
func (f *fleet) allKnow(name string) {
	f.Helper()
	for id := range f.replicas {
		f.knows(id, name)
	}
}

// TestLeaderWhoseProcessEnded ends a leader. Another server leads without waiting for the
// election timeout.
func TestLeaderWhoseProcessEnded(t *testing.T) {
	for _, servers := range []int{3, 5} {
		f := newFleet(t, servers, Config{ElectionTimeout: long})
		f.write("", "before")
		f.allKnow("before")
		ended := f.leader("")
		began := time.Now()
		f.each(ended, (*link).sever)
		f.write(ended, "after")
		if took := time.Since(began); took > long {
			t.Errorf("a write of another of %d servers took %s, with an election timeout of %s", servers, took, long)
		}
		if next := f.leader(ended); !has(f.replicas[next].config.Store, "before") {
			t.Errorf("%s leads, and lacks an acknowledged write", next)
		}
	}
}

// TestRefusedFollower has one follower lose its connections to the leader, as a firewall does that
// refuses connections. The other follower does not agree that the leader's process ended.
func TestRefusedFollower(t *testing.T) {
	f := newFleet(t, 3, Config{ElectionTimeout: long})
	f.write("", "before")
	f.allKnow("before")
	leader := f.leader("")
	term := f.replicas[leader].raft.CurrentTerm()
	refused := ""
	for id := range f.replicas {
		if id != leader {
			refused = id
		}
	}
	f.link(leader, refused).sever()
	f.link(refused, leader).sever()
	if r := f.replicas[refused]; !r.succeed(r.config.Transport.(lossy)) {
		t.Fatal("the follower does not notice that it is refused")
	}
	if err := f.replicas[refused].raft.VerifyLeader().Error(); err != raft.ErrNotLeader { // raft has handled what came before
		t.Errorf("a follower verifies that it leads: %v", err)
	}
	if state, now := f.replicas[refused].raft.State(), f.replicas[refused].raft.CurrentTerm(); state != raft.Follower || now != term {
		t.Errorf("the follower is a %s in term %d, want a follower in term %d", state, now, term)
	}
	f.write(refused, "after")
	if !f.replicas[leader].IsLeader() {
		t.Error("the leader changed")
	}
}

// TestVoterWithALongerLog has the leader's process end. A voter agrees with a server whose log is
// not shorter than its own.
func TestVoterWithALongerLog(t *testing.T) {
	f := newFleet(t, 3, Config{ElectionTimeout: long})
	f.write("", "before")
	f.allKnow("before")
	leader := f.leader("")
	for id, r := range f.replicas {
		peers := r.config.Transport.(lossy)
		index, term := r.lastEntry()
		ask := func(index, term uint64) bool {
			return r.agrees(peers, &raft.RequestPreVoteRequest{RPCHeader: header("another", nil), LastLogIndex: index, LastLogTerm: term})
		}
		if ask(index, term) {
			t.Errorf("%s agrees that the process of a leader that lives has ended", id)
		}
		if id == leader {
			continue
		}
		peers = &probed{errs: []error{syscall.ECONNREFUSED}}
		for question, want := range map[[2]uint64]bool{{index, term}: true, {index + 1, term}: true, {1, term + 1}: true, {index - 1, term}: false, {index, term - 1}: false} {
			if got := ask(question[0], question[1]); got != want {
				t.Errorf("%s, whose log ends with %d of term %d, is asked by one whose log ends with %d of term %d: %v, want %v", id, index, term, question[0], question[1], got, want)
			}
		}
	}
}

// TestEndOfAProcess tells the end of a process from other troubles.
func TestEndOfAProcess(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		errs  []error
		ended bool
		asked int
	}{
		"refused":                {[]error{refused}, true, 1},
		"broken, then refused":   {[]error{io.EOF, syscall.ECONNRESET, refused}, true, 3},
		"accepted":               {[]error{nil}, false, probes},
		"accepted, then refused": {[]error{nil, nil, refused}, true, 3},
		"no answer":              {[]error{context.DeadlineExceeded}, false, 1},
		"no route":               {[]error{syscall.EHOSTUNREACH}, false, probes},
		"broken again and again": {[]error{io.EOF}, false, probes},
	} {
		bubble.Test(t, func(t *testing.T) {
			r, p := &Replica{stop: make(chan struct{})}, &probed{errs: c.errs}
			if ended := r.hasEnded(p, "leader", "leader:1"); ended != c.ended || p.asked != c.asked {
				t.Errorf("%s: ended %v after %d questions, want %v after %d", name, ended, p.asked, c.ended, c.asked)
			}
		})
	}
}

// probed is a transport whose probes end with the errors in turn, and then with the last one.
type probed struct {
	lossy
	errs  []error
	asked int
}

func (p *probed) Probe(context.Context, raft.ServerID, raft.ServerAddress) error {
	err := p.errs[min(p.asked, len(p.errs)-1)]
	p.asked++
	return err
}
