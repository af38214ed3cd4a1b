// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/thread"
)

// settings are the settings of a new namespace, below /proc/sys/net. Those of "default" apply to
// the interfaces that are made later. An unprivileged task may use the low ports of its own
// network. Some kernels lack some of them.
var settings = map[string]string{
	"ipv4/ip_unprivileged_port_start":        "0",
	"ipv6/conf/default/accept_ra":            "0",
	"ipv6/conf/default/accept_dad":           "0",
	"ipv6/conf/default/autoconf":             "0",
	"ipv6/conf/default/addr_gen_mode":        "1",
	"ipv6/conf/default/router_solicitations": "0",
}

// makeNamespace makes a namespace with a loopback interface, and binds it to a file, which keeps
// it alive without a process. It does nothing if path is a namespace already.
func makeNamespace(path string) error {
	if isNamespace(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	return thread.Run(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return explain("make a network namespace", err)
		}
		for name, value := range settings {
			_ = os.WriteFile("/proc/sys/net/"+name, []byte(value), 0)
		}
		if err := raiseLoopback(); err != nil {
			return err
		}
		source := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
		if err := unix.Mount(source, path, "", unix.MS_BIND, ""); err != nil {
			return explain("keep the network namespace at "+path, err)
		}
		return nil
	})
}

func raiseLoopback() error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return explain("open netlink", err)
	}
	defer h.Close()
	lo := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: "lo", Index: 1}}
	return explain("start the loopback interface", h.LinkSetUp(lo))
}

// isNamespace reports whether path is a namespace, rather than the file at which one was bound.
func isNamespace(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Type == unix.NSFS_MAGIC
}

// removeNamespace removes a namespace's file. The namespace ends with its last process.
func removeNamespace(path string) error {
	for isNamespace(path) { // several may be bound one over another
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return explain("remove the network namespace "+path, err)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// within calls do on a thread in the namespace at path, which then ends.
func within(path string, do func() error) error {
	return thread.Run(func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			return explain("enter the network namespace "+path, err)
		}
		return do()
	})
}

// setting writes a setting of the namespace of the calling thread, unless it has the value.
func setting(name, value string) error {
	path := "/proc/sys/net/" + name
	now, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(now)) == value {
		return err
	}
	return os.WriteFile(path, []byte(value), 0)
}

// readSetting reads a setting of the namespace of the calling thread; "" if it does not exist.
func readSetting(name string) string {
	now, err := os.ReadFile("/proc/sys/net/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(now))
}
