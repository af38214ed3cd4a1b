// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"
)

// TestTheRootIsReplacedWithoutARestart rotates the root of two servers and a node. All of them
// renew, the old root goes, and members still accept each other, also after a restart.
func TestTheRootIsReplacedWithoutARestart(t *testing.T) {
	m := newMembers(t, 2)
	m.form()
	node := m.on(m.spare, "host-3", "-client", "-join", m.net.Hosts()[0].Addr, "-join-token-file", m.token("node"))
	node.start()
	ready := readyNodes(m.all[0], 3)
	m.all[0].eventually("three nodes are ready", ready)
	before, err := m.all[0].Client.Cluster().CAStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.all[0].Client.Cluster().RotateCA(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	m.all[1].eventually("all members renewed", func(ctx context.Context) error {
		status, err := m.all[1].Client.Cluster().CAStatus(ctx)
		if err == nil && len(status.Waiting) > 0 {
			err = fmt.Errorf("%+v wait", status.Waiting)
		}
		return err
	})
	m.all[0].eventually("the members accept each other with two roots", ready)
	m.all[0].eventually("the old root is dropped", func(ctx context.Context) error {
		status, err := m.all[0].Client.Cluster().CAStatus(ctx)
		switch {
		case err != nil:
			return err
		case len(status.Roots) != 1 || status.Roots[0] == before.Roots[0]:
			return fmt.Errorf("the roots are %v", status.Roots)
		}
		return nil
	})
	for _, a := range []*machine{m.all[1], node} {
		a.Kill()
		a.start()
	}
	m.all[0].eventually("the members accept each other with the new root", ready)
	m.all[0].eventually("all servers vote", func(ctx context.Context) error { return m.allVote(ctx, m.all[0]) })
}
