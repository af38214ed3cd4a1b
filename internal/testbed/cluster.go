// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// clusterPatience bounds the wait for a cluster to form or to elect a leader.
const clusterPatience = time.Minute

// lookInterval is the pause between two looks at a cluster that is about to change.
const lookInterval = 10 * time.Millisecond

// A Cluster is a set of servers that are also nodes, each on a host of its own.
type Cluster struct {
	Net      *network.Network
	Machines []*Machine // on the hosts of Net, in their order
	dir      string
}

// NewCluster starts n servers, and returns when all of them vote. Close ends them. The servers
// get the flags in args.
func NewCluster(ctx context.Context, reeve string, n int, args ...string) (c *Cluster, err error) {
	c = &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("form a cluster: %w", err), c.Close())
		}
	}()
	if c.dir, err = os.MkdirTemp("", "reeve-cluster-"); err != nil {
		return c, err
	}
	if c.Net, err = network.New(n); err != nil {
		return c, err
	}
	for i, h := range c.Net.Hosts() {
		m, err := On(h, reeve, append([]string{"-node", fmt.Sprint("host-", i+1), "-server", "-client"}, args...)...)
		if err != nil {
			return c, err
		}
		c.Machines = append(c.Machines, m)
	}
	return c, c.form(ctx)
}

func (c *Cluster) form(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	founder := c.Machines[0]
	founder.Args = append(founder.Args, "-bootstrap")
	if err := founder.Start(); err != nil {
		return err
	}
	if err := founder.Poll(ctx, lookInterval, c.writeToken); err != nil {
		return err
	}
	for i := range c.Machines[1:] {
		if err := c.Join(i + 1); err != nil {
			return err
		}
	}
	return c.AllVote(ctx)
}

func (c *Cluster) writeToken(ctx context.Context) error {
	tokens, err := c.Machines[0].Client.Cluster().JoinTokens(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(c.tokenPath(), []byte(tokens.Server+"\n"), 0o600)
}

func (c *Cluster) tokenPath() string { return filepath.Join(c.dir, "server.token") }

// Join starts a machine, which joins the cluster of the first machine unless it is a member.
func (c *Cluster) Join(i int) error {
	m := c.Machines[i]
	if i > 0 && !slices.Contains(m.Args, "-join") {
		m.Args = append(m.Args, "-join", c.Net.Hosts()[0].Addr, "-join-token-file", c.tokenPath())
	}
	return m.Start()
}

// AllVote waits until each server knows that all machines vote.
func (c *Cluster) AllVote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	for _, m := range c.Machines {
		err := m.Poll(ctx, lookInterval, func(ctx context.Context) error {
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
			if voters != len(c.Machines) {
				return fmt.Errorf("%d of %d servers vote", voters, len(c.Machines))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Leader waits until machine i knows a leader, and returns the leader's position.
func (c *Cluster) Leader(ctx context.Context, i int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	found := -1
	err := c.Machines[i].Poll(ctx, lookInterval, func(ctx context.Context) error {
		address, err := c.Machines[i].Client.Status().Leader(ctx)
		if err != nil {
			return err
		}
		found = slices.IndexFunc(c.Net.Hosts(), func(h *network.Host) bool { return address == h.Addr+":"+MemberPort })
		if found < 0 {
			return fmt.Errorf("%q is not the address of a server", address)
		}
		return nil
	})
	return found, err
}

// Secure returns a client that calls machine i over TLS as an operator, from the machine's host.
func (c *Cluster) Secure(ctx context.Context, i int) (*client.Client, error) {
	token, err := os.ReadFile(filepath.Join(c.Machines[0].Dir, "operator.token"))
	if err != nil {
		return nil, err
	}
	return c.SecureWith(ctx, i, strings.TrimSpace(string(token)))
}

// SecureWith returns a client that calls machine i over TLS with a token, from the machine's host.
func (c *Cluster) SecureWith(ctx context.Context, i int, token string) (*client.Client, error) {
	ca, err := c.Machines[0].Client.Cluster().CA(ctx)
	if err != nil {
		return nil, err
	}
	h := c.Net.Hosts()[i]
	return client.New(client.Config{Address: "https://" + h.Addr + ":" + MemberPort, CA: []byte(ca.Roots), Token: token, Dial: h.Dial})
}

// Close ends the processes, and removes the network and all directories.
func (c *Cluster) Close() error {
	for _, m := range c.Machines {
		m.Destroy()
	}
	os.RemoveAll(c.dir)
	if c.Net == nil {
		return nil
	}
	return c.Net.Close()
}
