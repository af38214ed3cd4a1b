// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// explain adds to an error of the kernel what an operator can do about it. nil stays nil.
func explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s: %w: the agent lacks CAP_NET_ADMIN or CAP_SYS_ADMIN; run it as root, outside of a container without these capabilities", what, err)
	case errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPROTONOSUPPORT) || errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s: %w: the kernel lacks a module; load bridge, veth, nf_tables, nft_chain_nat, nft_fib_inet and nft_masq (modprobe)", what, err)
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE):
		return fmt.Errorf("%s: %w: the node is out of namespaces, memory or files; check /proc/sys/user/max_net_namespaces and the limits of the agent", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isAbsent reports whether an error says that the object does not exist.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH)
}
