// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// patience bounds the wait for a cluster to form or to recover.
const patience = time.Minute

// servers is the number of servers of a cluster.
const servers = 3

// A cluster is a set of servers that are also nodes, each on a host of its own.
type cluster struct {
	net *network.Network
	all []*testbed.Machine
	dir string
}

// newCluster starts servers and waits until all of them vote.
func newCluster(ctx context.Context, reeve string) (c *cluster, err error) {
	c = &cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("form the cluster: %w", err), c.close())
		}
	}()
	if c.dir, err = os.MkdirTemp("", "reeve-jepsen-"); err != nil {
		return c, err
	}
	if c.net, err = network.New(servers); err != nil {
		return c, err
	}
	for i, h := range c.net.Hosts() {
		m, err := testbed.On(h, reeve, "-node", fmt.Sprint("host-", i+1), "-server", "-client")
		if err != nil {
			return c, err
		}
		c.all = append(c.all, m)
	}
	return c, c.form(ctx)
}

func (c *cluster) form(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	founder, token := c.all[0], filepath.Join(c.dir, "server.token")
	founder.Args = append(founder.Args, "-bootstrap")
	if err := founder.Start(); err != nil {
		return err
	}
	err := founder.Poll(ctx, pollInterval, func(ctx context.Context) error {
		tokens, err := founder.Client.Cluster().JoinTokens(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(token, []byte(tokens.Server+"\n"), 0o600)
	})
	if err != nil {
		return err
	}
	for _, m := range c.all[1:] {
		m.Args = append(m.Args, "-join", c.net.Hosts()[0].Addr, "-join-token-file", token)
		if err := m.Start(); err != nil {
			return err
		}
	}
	for _, m := range c.all {
		if err := m.Poll(ctx, pollInterval, func(ctx context.Context) error { return c.allVote(ctx, m) }); err != nil {
			return err
		}
	}
	return nil
}

// allVote returns an error unless a server knows that all servers vote.
func (c *cluster) allVote(ctx context.Context, m *testbed.Machine) error {
	list, err := m.Client.Servers().List(ctx)
	if err != nil {
		return err
	}
	voters := 0
	for _, s := range list {
		if s.Voter {
			voters++
		}
	}
	if voters != len(c.all) {
		return fmt.Errorf("%d of %d servers vote", voters, len(c.all))
	}
	return nil
}

// leader returns the position of the server that leads.
func (c *cluster) leader(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := -1
	err := c.all[0].Poll(ctx, pollInterval, func(ctx context.Context) error {
		address, err := c.all[0].Client.Status().Leader(ctx)
		if err != nil {
			return err
		}
		found = slices.IndexFunc(c.net.Hosts(), func(h *network.Host) bool { return address == h.Addr+":"+testbed.MemberPort })
		if found < 0 {
			return fmt.Errorf("%q is not the address of a server", address)
		}
		return nil
	})
	return found, err
}

// close ends the processes, and removes the network.
func (c *cluster) close() error {
	for _, m := range c.all {
		m.Destroy()
	}
	os.RemoveAll(c.dir)
	if c.net == nil {
		return nil
	}
	return c.net.Close()
}
