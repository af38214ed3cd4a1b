// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// joinNetwork makes the process start in the network namespace at path; "" changes nothing. The
// forking thread enters it, before the process gives up any privilege. Call leave after the fork.
func (p *process) joinNetwork(path string) (leave func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	ns, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("enter the allocation's network: open %s: %w", path, err)
	}
	p.prepare = append(p.prepare, func() error {
		if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the allocation's network %s: %w", path, err)
		}
		return nil
	})
	return func() { unix.Close(ns) }, nil
}
