// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/httpapi"
	"github.com/reeve-run/reeve/internal/nodelink"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/pki"
)

// newLinks returns the server's side of the connections of nodes.
func (a *Agent) newLinks() *nodelink.Server {
	s := a.server
	return nodelink.NewServer(nodelink.Config{
		Identify: a.identifyNode, Removed: s.IsRevoked, Await: s.Store().Wait, TTL: s.HeartbeatTTL(), Logger: a.log,
		Open: func(node string, told api.Position, notify func()) (nodelink.Feed, error) {
			feed, err := s.OpenNodeFeed(node, told, notify)
			if err != nil {
				return nil, err
			}
			return feed, nil
		},
		Heard: func(ctx context.Context, m *nodeproto.Heartbeats) (*nodeproto.HeartbeatsResult, error) {
			if s.IsLeader() {
				return s.Heard(ctx, m)
			}
			result := new(nodeproto.HeartbeatsResult)
			return result, a.tellLeader(ctx, "/v1/server/heartbeats", m, result)
		},
		Report: func(ctx context.Context, m *nodeproto.Reports) (*nodeproto.ReportsResult, error) {
			if s.IsLeader() {
				return s.TakeReports(ctx, m)
			}
			result := new(nodeproto.ReportsResult)
			return result, a.tellLeader(ctx, "/v1/server/reports", m, result)
		},
	})
}

// identifyNode returns the node that the other end of a connection represents.
func (a *Agent) identifyNode(conn net.Conn) (nodelink.Peer, error) {
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nodelink.Peer{}, api.Errorf(api.CodeForbidden, "nodes connect with TLS")
	}
	who, ok := a.trust.Peer(secured.ConnectionState())
	switch {
	case !ok:
		return nodelink.Peer{}, api.Errorf(api.CodeForbidden, "the certificate of the agent is of no member of this cluster: join it again")
	case who.Expired && who.Role == pki.RoleNode:
		return nodelink.Peer{}, api.Errorf(api.CodeForbidden, "the certificate of node %s has expired: the agent renews it first; check its log for the reason of the delay", who.ID)
	case a.server.IsRevoked(who.ID):
		return nodelink.Peer{}, api.Errorf(api.CodeForbidden, "%s %s was removed from the cluster: stop its agent, empty its data directory, and join again with a new token", who.Role, who.ID)
	}
	return nodelink.Peer{Node: who.ID, Any: simulatedFleets}, nil
}

// maxLeaderAnswer bounds the answer of a leader, in bytes.
const maxLeaderAnswer = 64 << 20

// An encodedMessage is a message of package nodeproto.
type encodedMessage interface {
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
}

// tellLeader sends a message to the leader, and decodes its answer.
func (a *Agent) tellLeader(ctx context.Context, path string, m, result encodedMessage) error {
	leader := a.server.Leader()
	if leader == "" || a.server.IsLeader() {
		return api.Errorf(api.CodeUnavailable, "the cluster has no leader")
	}
	body, err := m.MarshalVT()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://"+leader+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", nodeproto.Media)
	resp, err := a.members.RoundTrip(r)
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "the leader at %s does not answer: %v", leader, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxLeaderAnswer))
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "the answer of the leader at %s ends early: %v", leader, err)
	}
	if resp.StatusCode != http.StatusOK {
		return api.Errorf(codeOfStatus(resp.StatusCode), "the leader at %s answers %s: %s", leader, resp.Status, api.Printable(strings.TrimSpace(string(answer)), 500))
	}
	return result.UnmarshalVT(answer)
}

// codeOfStatus tells an unknown route, that of an older leader, from other errors.
func codeOfStatus(status int) api.ErrorCode {
	if status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
		return api.CodeNotFound
	}
	return api.CodeUnavailable
}

// newLink returns the node's side of its connection to a server.
func (a *Agent) newLink(nodeID, mark string) *nodelink.Client {
	dialer := &tls.Dialer{Config: a.trust.ClientConfig(nodeproto.Protocol), NetDialer: &net.Dialer{Timeout: memberDialTimeout}}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil && strings.Contains(err.Error(), noProtocol) {
			return nil, fmt.Errorf("%w: %w", nodelink.ErrUnsupported, err)
		}
		return conn, err
	}
	servers := func() []string {
		m, _ := a.trust.Member()
		ranked := httpapi.RankServers(nodeID, m.Servers)
		if a.server != nil { // the server of this machine is alive while the agent is
			ranked = slices.DeleteFunc(ranked, func(address string) bool { return address == a.advertise })
			ranked = slices.Insert(ranked, 0, a.localAddr())
		}
		return ranked
	}
	link := nodelink.NewClient(dial, servers, mark)
	link.Linked = func(address string) { a.log.Info(nodeLinked, "server", address) }
	return link
}

// nodeLinked is in the log when a server has accepted the node.
const nodeLinked = "the node is connected to a server"

// noProtocol is in the error of a handshake with a server that does not know the protocol.
// crypto/tls has no type for it.
const noProtocol = "no application protocol"
