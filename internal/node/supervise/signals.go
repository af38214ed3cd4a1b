// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// parseSignal parses a signal's name: "SIGTERM", "TERM" or "15".
func parseSignal(name string) (unix.Signal, error) {
	n := strings.ToUpper(strings.TrimSpace(name))
	if v, err := strconv.Atoi(n); err == nil && v > 0 && v < 65 {
		return unix.Signal(v), nil
	}
	if !strings.HasPrefix(n, "SIG") {
		n = "SIG" + n
	}
	if s := unix.SignalNum(n); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("unknown signal %q; signals are named like SIGTERM", name)
}

// endsInit reports whether a signal would end the process if it were not the first one of a
// pid namespace. The kernel drops signals to such a process unless it handles them, so that
// SIGTERM would not end a plain `sleep`, contrary to users' expectations.
func endsInit(pid int, sig unix.Signal) bool {
	switch sig {
	case unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return false
	}
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	defer f.Close()
	initPID, taken := false, uint64(0)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch key {
		case "NSpid":
			levels := strings.Fields(value)
			initPID = len(levels) > 1 && levels[len(levels)-1] == "1"
		case "SigBlk", "SigIgn", "SigCgt":
			mask, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			taken |= mask
		}
	}
	return initPID && taken&(1<<(uint(sig)-1)) == 0
}
