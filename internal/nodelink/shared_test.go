// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// listen reads the messages of a server until the connection ends.
func listen(conn net.Conn) (received func() []*nodeproto.ToNode) {
	messages := make(chan *nodeproto.ToNode, 1000)
	go func() {
		defer close(messages)
		for r := nodeproto.NewReader(conn, 1<<20); ; {
			m := new(nodeproto.ToNode)
			if r.Next(m) != nil {
				return
			}
			messages <- m
		}
	}()
	return func() (all []*nodeproto.ToNode) {
		synctest.Wait()
		for {
			select {
			case m, open := <-messages:
				if !open {
					return all
				}
				all = append(all, m)
			default:
				return all
			}
		}
	}
}

func inSlot(slot uint32, m *nodeproto.FromNode) *nodeproto.FromNode {
	m.Slot = slot
	return m
}

// TestACertificateSpeaksForOneNode checks that a peer learns why an ordinary server closes its
// connection.
func TestACertificateSpeaksForOneNode(t *testing.T) {
	for what, c := range map[string]struct {
		sent []*nodeproto.FromNode
		says string
	}{
		"another node": {[]*nodeproto.FromNode{helloOf(stranger)}, "the certificate of node " + nodeID + ` does not speak for node "` + stranger + `"`},
		"several":      {[]*nodeproto.FromNode{helloOf(nodeID), inSlot(1, helloOf(stranger))}, "the certificate of node " + nodeID + " speaks for one node"},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				s := newTestServer(t, newLeader())
				conn := s.dial()
				defer conn.Close()
				received := listen(conn)
				conn.Write(encode(t, c.sent...))
				all := received()
				if len(all) == 0 || all[len(all)-1].Failure == nil {
					t.Fatalf("got %v, want a failure", all)
				}
				if f := all[len(all)-1].Failure; f.Code != string(api.CodeForbidden) || !strings.Contains(f.Message, c.says) {
					t.Errorf("got the failure %v, want a refusal that says %s", f, c.says)
				}
				if _, err := conn.Write(encode(t, helloOf(nodeID))); err == nil {
					t.Error("the connection stays open")
				}
			})
		})
	}
}

// TestNodesOfASharedConnectionEndApart checks connections of simulated fleets: the end of one
// node's link, because the leader does not know it or because the node has a newer one, leaves
// the others as they are.
func TestNodesOfASharedConnectionEndApart(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		s := newTestServer(t, l)
		s.peer.Any = true
		conn := s.dial()
		defer conn.Close()
		received := listen(conn)
		ids := []string{nodeID, stranger, "third"}
		for slot, id := range ids {
			conn.Write(encode(t, inSlot(uint32(slot), helloOf(id))))
		}
		time.Sleep(time.Second)
		if all := received(); s.Links() != 3 {
			t.Fatalf("%d of 3 nodes are connected: %v", s.Links(), all)
		}
		l.refuse(stranger, api.Errorf(api.CodeNotFound, "register"))
		beats := func() (heard, failed []uint32) {
			t.Helper()
			for slot := range ids {
				if _, err := conn.Write(encode(t, inSlot(uint32(slot), &nodeproto.FromNode{Beat: true}))); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
			for _, m := range received() {
				if m.Heard {
					heard = append(heard, m.Slot)
				}
				if m.Failure != nil {
					failed = append(failed, m.Slot)
				}
			}
			slices.Sort(heard)
			return heard, failed
		}
		if heard, failed := beats(); !slices.Equal(heard, []uint32{0, 2}) || !slices.Equal(failed, []uint32{1}) || s.Links() != 2 {
			t.Errorf("the heartbeats of %v were acknowledged, %v failed, %d are connected; want 0 and 2, 1, and 2", heard, failed, s.Links())
		}
		if feed := s.feed(stranger); !feed.isClosed() {
			t.Error("the feed of the node that has ended is open")
		}
		if _, err := conn.Write(encode(t, inSlot(1, &nodeproto.FromNode{Report: &nodeproto.Report{}}))); err != nil {
			t.Fatal(err) // sent before the node knew
		}

		l.refuse(stranger, nil)
		ids = append(ids, stranger, nodeID)
		conn.Write(encode(t, inSlot(3, helloOf(stranger)), inSlot(4, helloOf(nodeID))))
		time.Sleep(time.Second)
		received()
		if heard, failed := beats(); !slices.Equal(heard, []uint32{2, 3, 4}) || len(failed) > 0 || s.Links() != 3 {
			t.Errorf("after new greetings the heartbeats of %v were acknowledged, %v failed, %d are connected; want 2, 3 and 4", heard, failed, s.Links())
		}
		if len(l.reports) > 0 {
			t.Errorf("the leader got %d reports of a link that had ended", len(l.reports))
		}
	})
}
