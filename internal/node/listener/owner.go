// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package listener

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// An Owner is a process that holds a listening socket.
type Owner struct {
	PID  int
	Name string // of its program, made printable
}

// String names the process, for use in a sentence.
func (o Owner) String() string {
	return "process " + strconv.Itoa(o.PID) + " (" + o.Name + ")"
}

// ownersOf finds the processes that hold one of the sockets, except those that it may not
// inspect. It visits every process of the machine.
func ownersOf(of []Listener) (all []Owner) {
	wanted := make(map[string]bool, len(of))
	for _, l := range of {
		wanted["socket:["+l.inode+"]"] = true
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && holds(name, wanted) {
			all = append(all, Owner{pid, program(name)})
		}
	}
	return all
}

// holds reports whether the process has one of the sockets open.
func holds(pid string, sockets map[string]bool) bool {
	dir := filepath.Join("/proc", pid, "fd")
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, fd := range names {
		if to, err := os.Readlink(filepath.Join(dir, fd)); err == nil && sockets[to] {
			return true
		}
	}
	return false
}

func program(pid string) string {
	comm, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	if err != nil {
		return "?"
	}
	return api.Printable(string(comm), 64)
}

// A Family identifies the processes of an allocation's tasks.
type Family struct {
	PIDs []int // of the tasks' main processes
	// Variable is set, as NAME=value, in the initial environment of every process of the
	// family. Some programs overwrite theirs.
	Variable string
}

// Has reports whether the process belongs to the family: it is a main process or a
// descendant of one, it shares the session or the cgroup of one, or the variable is in its
// environment or in that of one of its ancestors.
func (f Family) Has(pid int) bool {
	own := cgroup("self")
	for _, main := range f.PIDs {
		if in := cgroup(strconv.Itoa(main)); in != "" && in != own && cgroup(strconv.Itoa(pid)) == in {
			return true
		}
	}
	for steps := 0; pid > 1 && steps < 64; steps++ {
		ppid, session := stat(pid)
		if slices.Contains(f.PIDs, pid) || slices.Contains(f.PIDs, session) || f.Variable != "" && hasVariable(pid, f.Variable) {
			return true
		}
		pid = ppid
	}
	return false
}

func hasVariable(pid int, variable string) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}

// cgroup returns the cgroup of a process; "" if unknown.
func cgroup(pid string) string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "cgroup"))
	if err != nil {
		return ""
	}
	return string(text)
}

// stat returns the parent and the session of a process; 0 if unknown.
func stat(pid int) (parent, session int) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the command's name may contain anything
	if len(f) < 4 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(f[1])
	session, _ = strconv.Atoi(f[3])
	return parent, session
}
