// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/failpoint"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// A cluster is a set of servers that are also nodes, each on a host of its own.
type cluster struct {
	net   *network.Network // with one host more than servers
	all   []*testbed.Machine
	pages []*failpoint.Page // of the servers; nil without failpoints
	spare *testbed.Machine  // a server that joined for a round
	dir   string
	token string // file with the join token of servers
	reeve string // the binary
	old   string // the binary of an earlier version; "" without one
}

// newCluster starts servers and waits until all of them vote.
func newCluster(ctx context.Context, o Options) (c *cluster, err error) {
	c = &cluster{reeve: o.Reeve, old: o.OldBinary}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("form the cluster: %w", err), c.close())
		}
	}()
	if c.dir, err = os.MkdirTemp("", "reeve-jepsen-"); err != nil {
		return c, err
	}
	if err := os.Mkdir(filepath.Join(c.dir, "starts"), 0o755); err != nil {
		return c, err
	}
	if c.net, err = network.New(o.Servers + 1); err != nil {
		return c, err
	}
	for i, h := range c.net.Hosts()[:o.Servers] {
		m, err := testbed.On(h, o.Reeve, "-node", fmt.Sprint("host-", i+1), "-server", "-client")
		if err != nil {
			return c, err
		}
		c.all = append(c.all, m)
		if o.Failpoints {
			if err := c.addPage(m); err != nil {
				return c, err
			}
		}
	}
	return c, c.form(ctx)
}

// addPage gives a machine a page of failpoints.
func (c *cluster) addPage(m *testbed.Machine) error {
	path := filepath.Join(c.dir, fmt.Sprint("failpoints-", len(c.pages)))
	page, err := failpoint.Open(path)
	if err != nil {
		return err
	}
	c.pages = append(c.pages, page)
	run := m.Command
	m.Command = func(name string, args ...string) *exec.Cmd {
		cmd := run(name, args...)
		cmd.Env = append(os.Environ(), failpoint.Env+"="+path)
		return cmd
	}
	return nil
}

// spareHost returns the host without a server.
func (c *cluster) spareHost() *network.Host { return c.net.Hosts()[len(c.all)] }

func (c *cluster) form(ctx context.Context) error {
	founder := c.all[0]
	c.token = filepath.Join(c.dir, "server.token")
	founder.Args = append(founder.Args, "-bootstrap")
	if err := founder.Start(); err != nil {
		return err
	}
	err := await(ctx, founder, pollInterval, func(ctx context.Context) error {
		tokens, err := founder.Client.Cluster().JoinTokens(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(c.token, []byte(tokens.Server+"\n"), 0o600)
	})
	if err != nil {
		return err
	}
	for _, m := range c.all[1:] {
		m.Args = append(m.Args, "-join", c.net.Hosts()[0].Addr, "-join-token-file", c.token)
		if err := m.Start(); err != nil {
			return err
		}
	}
	for _, m := range c.all {
		if err := await(ctx, m, pollInterval, func(ctx context.Context) error { return c.allVote(ctx, m) }); err != nil {
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
	found := -1
	err := await(ctx, c.all[0], pollInterval, func(ctx context.Context) error {
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
	if c.spare != nil {
		c.spare.Destroy()
	}
	var errs []error
	for _, page := range c.pages {
		errs = append(errs, page.Close())
	}
	errs = append(errs, os.RemoveAll(c.dir))
	if c.net != nil {
		errs = append(errs, c.net.Close())
	}
	return errors.Join(errs...)
}

// lastLine returns the last line of a process's output.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}

// awaitWrites returns when a write through each server has succeeded.
func (c *cluster) awaitWrites(ctx context.Context) error {
	for i, m := range c.all {
		err := await(ctx, m, pollInterval, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, opTimeout)
			defer cancel()
			_, err := m.Client.NodePools().Put(ctx, &api.NodePool{Name: "recovered", Description: fmt.Sprint("server ", i)})
			return err
		})
		if err != nil {
			return fmt.Errorf("no write through server %d succeeded after the fault: %w", i, err)
		}
	}
	return nil
}
