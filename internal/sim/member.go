// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// region is the region of simulated nodes, which is that of servers without a setting.
const region = "global"

// A membership is the simulator's own membership of the cluster: one certificate, as a node, with
// which it speaks for all simulated nodes. Only a server with the build tag simfleet permits that.
type membership struct {
	dir     string
	config  *tls.Config
	servers []string // host:port of all servers
}

// enter makes the simulator a member of the cluster, with the rights of the run's client.
func (r *run) enter(ctx context.Context) (_ *membership, err error) {
	m := new(membership)
	if m.dir, err = os.MkdirTemp("", "reeve-sim-member-"); err != nil {
		return nil, fmt.Errorf("make a directory for the certificate: %w", err)
	}
	defer func() {
		if err != nil {
			m.leave()
		}
	}()
	store, err := trust.Open(filepath.Join(m.dir, "identity"))
	if err != nil {
		return nil, err
	}
	tokens, err := r.client.Cluster().JoinTokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the join token: %w", err)
	}
	csr, _, err := store.Prepare(api.NewID())
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Cluster().Join(ctx, &api.JoinRequest{
		Token: tokens.Node, CSR: string(csr), Name: "simulated-fleet", Address: "127.0.0.1:4646", Version: agentVersion, Region: region, Time: time.Now().UnixNano(),
	})
	if err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	self := trust.Member{ID: answer.ID, Role: pki.RoleNode, ClusterID: answer.ClusterID, Servers: answer.Servers}
	if err := store.Enter(self, []byte(answer.Certificate), []byte(answer.Roots)); err != nil {
		return nil, err
	}
	m.config, m.servers = store.ClientConfig(nodeproto.Protocol), answer.Servers
	return m, nil
}

// leave removes the certificate.
func (m *membership) leave() { os.RemoveAll(m.dir) }

// probe asks a server whether the simulator may speak for other nodes, before the server's state
// holds any of them. The server answers that it does not know the node, or that it does not
// permit it.
func (m *membership) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	for i, address := range m.servers {
		if err = m.probeServer(ctx, address); err == nil || api.CodeOf(err) == api.CodeForbidden || i == len(m.servers)-1 {
			break
		}
	}
	return err
}

func (m *membership) probeServer(ctx context.Context, address string) error {
	raw, err := m.dial(ctx, address)
	if err != nil {
		return err
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	stranger := &nodeproto.Hello{Node: nodeproto.PackID(api.NewID()), Agent: agentMark}
	hello, err := nodeproto.AppendMessage(nil, &nodeproto.FromNode{Hello: stranger})
	if err == nil {
		_, err = raw.Write(hello)
	}
	var answer nodeproto.ToNode
	if err == nil {
		err = nodeproto.NewReader(raw, maxFromServer).Next(&answer)
	}
	if err != nil {
		return fmt.Errorf("ask the server at %s whether one certificate may speak for many nodes: %w", address, err)
	}
	switch err := answer.Failure.AsError(); api.CodeOf(err) {
	case api.CodeNotFound:
		return nil
	case api.CodeForbidden:
		return api.Errorf(api.CodeForbidden, "the server at %s lets no certificate speak for several nodes (%v): run \"reeve sim\" without -links, or build reeve for the servers with: go build -tags simfleet ./cmd/reeve", address, err)
	default:
		return fmt.Errorf("the server at %s answers a node that it does not know: %w", address, err)
	}
}

func (m *membership) dial(ctx context.Context, address string) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&tls.Dialer{Config: m.config}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the server at %s: %w", address, err)
	}
	return conn.(*tls.Conn), nil
}
