// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// spareName is the name of the server that joins for a round.
const spareName = "spare"

// addServer starts another server, and returns when it votes.
func addServer(ctx context.Context, s *scene) error {
	m, err := testbed.On(s.spareHost(), s.reeve, "-node", spareName, "-server", "-join", s.net.Hosts()[0].Addr, "-join-token-file", s.token)
	if err != nil {
		return err
	}
	s.spare = m
	if err := m.Start(); err != nil {
		return err
	}
	err = await(ctx, s.all[0], pollInterval, func(ctx context.Context) error {
		status, err := s.spareStatus(ctx)
		if err != nil {
			return err
		}
		if status.Voter {
			return nil
		}
		// An answer may be lost: the next look at the list decides.
		return fmt.Errorf("the spare server does not vote yet: %w", s.all[0].Client.Servers().Promote(ctx, status.ID))
	})
	if err != nil {
		return fmt.Errorf("add a server: %w; its output:\n%s", err, m.Output())
	}
	s.note("the spare server votes")
	return nil
}

// addLeader adds a server and makes it the leader.
func addLeader(ctx context.Context, s *scene) error {
	if err := addServer(ctx, s); err != nil {
		return err
	}
	err := await(ctx, s.all[0], pollInterval, func(ctx context.Context) error {
		status, err := s.spareStatus(ctx)
		if err != nil {
			return err
		}
		if status.Leader {
			return nil
		}
		// The transfer fails while the server lacks entries.
		_, err = s.all[0].Client.Servers().Transfer(ctx, status.ID)
		return fmt.Errorf("the spare server does not lead yet: %w", err)
	})
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	s.note("the spare server leads")
	return nil
}

// removeServer removes the spare server for good while it runs.
func removeServer(ctx context.Context, s *scene) error {
	if s.spare == nil {
		return nil
	}
	err := await(ctx, s.all[0], pollInterval, func(ctx context.Context) error {
		status, err := s.spareStatus(ctx)
		if errors.Is(err, errNoSpare) {
			return nil
		}
		if err != nil {
			return err
		}
		if status.Leader { // it cannot be removed
			_, err := s.all[0].Client.Servers().Transfer(ctx, "")
			return fmt.Errorf("the spare server still leads: %w", err)
		}
		// An answer may be lost: the next look at the list decides.
		return fmt.Errorf("the spare server is still a member: %w", s.all[0].Client.Servers().Remove(ctx, status.ID, "end of the round"))
	})
	output := s.spare.Output()
	s.spare.Destroy()
	s.spare = nil
	if err != nil {
		return fmt.Errorf("remove a server: %w; its output:\n%s", err, output)
	}
	s.note("the spare server is removed")
	return nil
}

var errNoSpare = errors.New("the spare server is no member")

func (c *cluster) spareStatus(ctx context.Context) (*api.ServerStatus, error) {
	list, err := c.all[0].Client.Servers().List(ctx)
	if err != nil {
		return nil, err
	}
	for _, status := range list {
		if status.Name == spareName {
			return status, nil
		}
	}
	return nil, errNoSpare
}
