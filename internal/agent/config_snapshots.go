// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/backup"
)

// minSnapshotInterval is the shortest interval of scheduled snapshots.
const minSnapshotInterval = time.Second

// A fileSnapshots is the schedule of a server's snapshots.
type fileSnapshots struct {
	Directory string `hcl:"directory,optional"`
	Interval  string `hcl:"interval,optional"`
	Retain    *int   `hcl:"retain,optional"`
	Servers   string `hcl:"servers,optional"` // "all" or "leader"
}

// mergeSnapshots reads the block snapshots of a file.
func (s *Server) mergeSnapshots(path string, f *fileSnapshots) error {
	if f == nil {
		return nil
	}
	s.SavesSnapshots = true
	override(&s.Snapshots.Directory, f.Directory)
	if f.Interval != "" {
		interval, err := time.ParseDuration(f.Interval)
		if err != nil || interval < minSnapshotInterval {
			return api.Errorf(api.CodeInvalid, "%s: server: snapshots: interval = %q: must be a duration of at least %s, such as \"1h\"", path, f.Interval, minSnapshotInterval)
		}
		s.Snapshots.Interval = interval
	}
	if f.Retain != nil {
		if *f.Retain < 1 {
			return api.Errorf(api.CodeInvalid, "%s: server: snapshots: retain = %d: must be at least 1: it is the number of files that are kept", path, *f.Retain)
		}
		s.Snapshots.Retain = *f.Retain
	}
	switch f.Servers {
	case "":
	case "all", "leader":
		s.Snapshots.LeaderOnly = f.Servers == "leader"
	default:
		return api.Errorf(api.CodeInvalid, "%s: server: snapshots: servers = %q: must be \"all\", or \"leader\" for a directory that all servers share", path, f.Servers)
	}
	return nil
}

// snapshots returns the schedule, with defaults; one that saves nothing without a block.
func (c *Config) snapshots() backup.Config {
	if !c.Server.SavesSnapshots {
		return backup.Config{}
	}
	s := c.Server.Snapshots
	s.Directory = cmp.Or(s.Directory, filepath.Join(c.DataDir, "snapshots"))
	s.Interval, s.Retain = cmp.Or(s.Interval, backup.DefaultInterval), cmp.Or(s.Retain, backup.DefaultRetain)
	if abs, err := filepath.Abs(s.Directory); err == nil {
		s.Directory = abs
	}
	return s
}
