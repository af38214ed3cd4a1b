// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"syscall"
)

var (
	kill = each(func(c *cluster, target int) error {
		c.all[target].Kill()
		return nil
	})
	restart = each(func(c *cluster, target int) error { return c.all[target].Start() })

	// downgrade and upgrade restart servers with another binary.
	downgrade = each(func(c *cluster, target int) error { return c.restartAs(target, c.old) })
	upgrade   = each(func(c *cluster, target int) error { return c.restartAs(target, c.reeve) })
)

func (c *cluster) restartAs(target int, binary string) error {
	c.all[target].Kill()
	c.all[target].Reeve = binary
	return c.all[target].Start()
}

func signal(sig syscall.Signal) func(context.Context, *scene) error {
	return each(func(c *cluster, target int) error { return syscall.Kill(c.all[target].PID(), sig) })
}
