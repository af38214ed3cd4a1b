// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/internal/node/landlock"
)

// visible lists the parts of the host that fetching needs: programs and libraries, and the files
// about names, time and certificates.
var visible = []string{
	"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr", "/nix/store", "/run/current-system/sw",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache",
	"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/pki", "/etc/protocols", "/etc/resolv.conf",
	"/etc/services", "/etc/ssh/ssh_known_hosts", "/etc/ssl",
}

// alsoRead are further files that a confined process reads: in /dev and /proc, and its user's name.
var alsoRead = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/etc/passwd", "/proc/self", "/proc/self/exe", "/proc/meminfo", "/proc/cpuinfo", "/run/systemd/resolve"}

// confine limits this thread, and the program that it becomes, to a directory and the readable
// parts of the host. It does nothing on kernels without Landlock.
func confine(dir string, extra []string) error {
	if landlock.Version() == 0 {
		return nil
	}
	rules := []landlock.Rule{{Path: dir, Access: landlock.All}}
	for _, path := range slices.Concat(visible, alsoRead, extra) {
		access := landlock.Read | landlock.Execute
		if path == "/dev/null" {
			access |= landlock.Write
		}
		rules = append(rules, landlock.Rule{Path: path, Access: access, Optional: true})
	}
	if err := landlock.Restrict(rules, landlock.AbstractSockets|landlock.Signals); err != nil {
		return fmt.Errorf("confine the fetch: %w", err)
	}
	return nil
}
