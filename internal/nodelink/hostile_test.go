// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func encode(t *testing.T, messages ...*nodeproto.FromNode) []byte {
	t.Helper()
	var b []byte
	for _, m := range messages {
		var err error
		if b, err = nodeproto.AppendMessage(b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func helloOf(node string) *nodeproto.FromNode {
	return &nodeproto.FromNode{Hello: &nodeproto.Hello{Node: nodeproto.PackID(node)}}
}

// TestAHostileNodeLosesItsConnection sends what no agent sends. The connection ends, nobody else is
// heard of, and no feed of another node is opened.
func TestAHostileNodeLosesItsConnection(t *testing.T) {
	beat := &nodeproto.FromNode{Beat: true}
	report := &nodeproto.FromNode{Report: &nodeproto.Report{Content: []byte("x")}}
	second := helloOf(stranger)
	second.Slot = 1
	elsewhere := &nodeproto.FromNode{Slot: 1 << 30, Beat: true}
	marked := helloOf(nodeID)
	marked.Hello.Agent = strings.Repeat("x", maxMark+1)
	for what, sent := range map[string][]byte{
		"the id of another node":          encode(t, helloOf(stranger)),
		"no id":                           encode(t, helloOf("")),
		"an id with a prefix":             encode(t, helloOf(nodeID+"/../x")),
		"a heartbeat before the greeting": encode(t, beat),
		"a report before the greeting":    encode(t, report),
		"a report before the welcome":     encode(t, helloOf(nodeID), report),
		"two greetings":                   encode(t, helloOf(nodeID), helloOf(nodeID)),
		"a second node":                   encode(t, helloOf(nodeID), second),
		"a slot that does not exist":      encode(t, helloOf(nodeID), elsewhere),
		"a long mark":                     encode(t, marked),
		"a size that is too large":        binary.AppendUvarint(nil, maxMessage+1),
		"a size without an end":           []byte(strings.Repeat("\xff", 20)),
		"garbage":                         append([]byte{200, 1}, strings.Repeat("\xfe", 200)...),
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				l := newLeader()
				l.setDown(true) // nobody is welcome yet
				s := newTestServer(t, l)
				conn := s.dial()
				defer conn.Close()
				go conn.Write(sent)
				conn.SetReadDeadline(time.Now().Add(time.Second))
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Errorf("the connection stays open: %v", err)
				}
				l.setDown(false)
				time.Sleep(2 * ttl)
				if len(l.heard) > 0 || len(s.feeds) > 0 || len(l.reports) > 0 {
					t.Errorf("the leader heard of %v and got %d reports, %d feeds are open", l.heard, len(l.reports), len(s.feeds))
				}
			})
		})
	}
}

func TestANodeWithTooManyReportsLosesItsConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		s := newTestServer(t, l)
		block := make(chan struct{})
		s.Config.Report = func(ctx context.Context, m *nodeproto.Reports) (*nodeproto.ReportsResult, error) {
			select {
			case <-block:
			case <-ctx.Done():
			}
			return l.Report(ctx, m)
		}
		conn := s.dial()
		defer conn.Close()
		go io.Copy(io.Discard, conn)
		conn.Write(encode(t, helloOf(nodeID)))
		time.Sleep(time.Second)
		for range maxReportsInFlight {
			if _, err := conn.Write(encode(t, &nodeproto.FromNode{Report: &nodeproto.Report{}})); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if s.Links() != 1 {
			t.Fatal("the permitted number of reports closed the connection")
		}
		conn.Write(encode(t, &nodeproto.FromNode{Report: &nodeproto.Report{}}))
		synctest.Wait()
		if s.Links() != 0 {
			t.Error("the connection stays open")
		}
		close(block)
	})
}

// TestASilentNodeLosesItsConnection covers connections whose other end is gone, or sends a part of
// a message and waits.
func TestASilentNodeLosesItsConnection(t *testing.T) {
	for what, sent := range map[string][]byte{"nothing": nil, "half a message": {200, 1, 8}} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				s := newTestServer(t, newLeader())
				conn := s.dial()
				defer conn.Close()
				go conn.Write(append(encode(t, helloOf(nodeID)), sent...))
				conn.SetReadDeadline(time.Now().Add(4 * ttl))
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Errorf("the connection stays open: %v", err)
				}
			})
		})
	}
}

// TestANodeThatDoesNotReadLosesItsConnection covers a node that stops the flow of its connection.
func TestANodeThatDoesNotReadLosesItsConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		s := newTestServer(t, l)
		conn := s.dial()
		defer conn.Close()
		conn.Write(encode(t, helloOf(nodeID)))
		time.Sleep(2 * writeTimeout)
		if s.Links() != 0 {
			t.Error("the connection stays open")
		}
	})
}

func TestARejectedPeerIsToldWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := newTestServer(t, newLeader())
		s.Config.Identify = func(net.Conn) (Peer, error) { return Peer{}, errDetached }
		conn := s.dial()
		defer conn.Close()
		var m nodeproto.ToNode
		if err := nodeproto.NewReader(conn, maxFromServer).Next(&m); err != nil || m.Failure.AsError().Error() != errDetached.Error() {
			t.Errorf("got %v, %v; want the reason", &m, err)
		}
	})
}

func FuzzMessagesOfNodes(f *testing.F) {
	for _, m := range []*nodeproto.FromNode{helloOf(nodeID), {Beat: true}, {Report: &nodeproto.Report{Number: 3, Content: []byte("x")}}, {Slot: 7, Beat: true}} {
		b, err := nodeproto.AppendMessage(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, sent []byte) {
		bubble.Test(t, func(t *testing.T) {
			l := newLeader()
			s := newTestServer(t, l)
			conn := s.dial()
			go io.Copy(io.Discard, conn)
			conn.SetWriteDeadline(time.Now().Add(time.Second))
			conn.Write(sent)
			synctest.Wait()
			conn.Close()
			synctest.Wait()
			for node := range l.heard {
				if node != nodeID {
					t.Errorf("the leader heard of node %q, and the certificate is of %s", node, nodeID)
				}
			}
			for node := range s.feeds {
				if node != nodeID {
					t.Errorf("a feed of node %q is open, and the certificate is of %s", node, nodeID)
				}
			}
		})
	})
}
