// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/landlock"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

const (
	readWrite  = landlock.Read | landlock.Write
	readRun    = landlock.Read | landlock.Execute
	noProgram  = readWrite | landlock.Create
	unveilKeys = "rwxc" // modes, in the order of unveilModes
)

var unveilModes = []landlock.Access{landlock.Read, landlock.Write, landlock.Execute, landlock.Create}

// unveiled are the files besides its own that every confined task needs: programs and libraries, the
// files with which programs find libraries, users, hosts and the time, and the kernel's.
var unveiled = []struct {
	access landlock.Access
	paths  []string
}{
	{readRun, []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr"}},
	{landlock.Read, []string{
		"/etc/alternatives", "/etc/gai.conf", "/etc/group", "/etc/host.conf", "/etc/hostname", "/etc/hosts", "/etc/ld.so.cache",
		"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime", "/etc/nsswitch.conf", "/etc/os-release",
		"/etc/passwd", "/etc/protocols", "/etc/resolv.conf", "/etc/services", "/etc/timezone", "/proc",
	}},
	{readWrite, []string{"/dev/full", "/dev/null", "/dev/ptmx", "/dev/pts", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}},
	{noProgram, []string{"/dev/mqueue", "/dev/shm"}},
}

// unveil adds the rules of the config's unveil. It leaves out entries below the task's own directories and
// volumes: the task can use those anyway, and another task of the group could lead the path elsewhere with a link.
func (d *Driver) unveil(t *driver.Task, s *isolate.Spec, command string) error {
	list, ok := t.Config["unveil"]
	if !ok {
		return nil
	}
	entries, err := api.ParseUnveil(list)
	if err != nil {
		return fmt.Errorf("config unveil %w", err)
	}
	if d.c.Machine().Landlock == 0 {
		return errors.New("config unveil cannot be enforced: the node's kernel has no Landlock, or the supervisor is of an earlier version; upgrade it by a restart of the node's agent")
	}
	for _, u := range unveiled {
		for _, p := range u.paths {
			s.Landlock = append(s.Landlock, landlock.Rule{Path: p, Access: u.access, Optional: true})
		}
	}
	var own []string
	for _, m := range s.Mounts {
		access := readRun
		if !m.ReadOnly {
			access = landlock.All
		}
		own = append(own, m.Target)
		s.Landlock = append(s.Landlock, landlock.Rule{Path: m.Target, Access: access, Optional: true})
	}
	for _, dev := range s.Devices {
		own = append(own, dev.Target)
		s.Landlock = append(s.Landlock, landlock.Rule{Path: dev.Target, Access: landlock.Read | landlock.Write})
	}
	if filepath.IsAbs(command) && !below(command, own) {
		s.Landlock = append(s.Landlock, landlock.Rule{Path: command, Access: readRun, Optional: true})
	}
	for _, e := range entries {
		if below(e.Path, own) {
			continue
		}
		var access landlock.Access
		for i, mode := range unveilKeys {
			if strings.ContainsRune(e.Modes, mode) {
				access |= unveilModes[i]
			}
		}
		s.Landlock = append(s.Landlock, landlock.Rule{Path: e.Path, Access: access, Source: fmt.Sprintf("config unveil %q", e.Modes+":"+e.Path)})
	}
	return nil
}

func below(path string, dirs []string) bool {
	for _, dir := range dirs {
		if path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}
