// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// Level is the highest feature level that this version can apply. It numbers the changes of the
// log and of snapshots that earlier versions cannot read:
//
//	1  everything that earlier versions wrote; their servers announce no level
//	2  restores through the log, rotations of the root certificate
//	3  policies, roles and tokens; quotas, and namespaces with a quota or rules about node pools
//
// The state has a level too, which only rises. A command of a higher level must not be written:
// see Needs. The leader raises the level once all servers can apply the next one.
const Level = 3

// firstLevel is the level of states that have no recorded one.
const firstLevel = 1

// Level returns the feature level of the state.
func (c *content) Level() int { return max(c.cluster.level, firstLevel) }

// RaiseLevel raises the feature level of the state. From then on, servers of earlier versions
// cannot read the log.
type RaiseLevel struct {
	Level   int
	Version string // of the leader, for servers that do not know the level
}

// Name implements Command.
func (c *RaiseLevel) Name() string { return "RaiseLevel" }

func (c *RaiseLevel) encode() *wire.Command { return documentCommand(c) }

func (c *RaiseLevel) apply(t *txn) error {
	if c.Level > t.cluster.level {
		t.cluster.level, t.cluster.levelVersion = c.Level, c.Version
	}
	return nil
}

// A NewerError rejects a log or a snapshot that needs a newer version of Reeve.
type NewerError struct {
	Level   int
	Version string // that raised the level; "": unknown
}

// Error implements error.
func (e *NewerError) Error() string {
	since := ""
	if e.Version != "" {
		since = fmt.Sprintf(", which Reeve %s began to use", e.Version)
	}
	return fmt.Sprintf("the state has feature level %d%s, and this version of Reeve knows levels up to %d: install the version of the other servers, or a newer one",
		e.Level, since, Level)
}

// checkLevel returns an error if this version cannot apply the level.
func checkLevel(level int, version string) error {
	if level > Level {
		return &NewerError{level, version}
	}
	return nil
}

// Needs returns the feature level that the state must have before a command is written, and
// what the command does, in words. Most commands need the first level.
func Needs(c Command) (level int, does string) {
	if l, ok := c.(interface{ needs() (int, string) }); ok {
		return l.needs()
	}
	return firstLevel, ""
}

const (
	restoresSnapshot = "restore a snapshot"
	replacesRoot     = "replace the root certificate"
	controlsAccess   = "change policies, roles and tokens"
	followsTemplates = "restart the instances whose templates changed"
	limitsNamespaces = "limit namespaces by quotas and node pools"
)

func (c *StageRestore) needs() (int, string) { return 2, restoresSnapshot }
func (c *RestoreState) needs() (int, string) { return 2, restoresSnapshot }

// Earlier versions would restart every instance.
func (c *PutRestart) needs() (int, string) {
	if c.Restart != nil && c.Restart.Templates {
		return 3, followsTemplates
	}
	return firstLevel, ""
}

func (c *putObject[T]) needs() (int, string)    { return c.noun.needs(c.object) }
func (c *deleteObject[T]) needs() (int, string) { return c.noun.needs(nil) }

// needs returns the level that an object needs; nil is a deleted one.
func (n *noun[T]) needs(object *T) (int, string) {
	if n.since == nil {
		return firstLevel, ""
	}
	return n.since(object)
}

// isLeveled reports whether objects of the noun may need a level.
func (n *noun[T]) isLeveled() bool { return n.since != nil }

// sinceRotation is the level of renewals, and of a trust with two roots.
func sinceRotation(t *Trust) (int, string) {
	if t != nil && t.CrossSigned != "" {
		return 2, replacesRoot
	}
	return firstLevel, ""
}

// sinceQuota is the level of namespaces with a quota, or with rules about node pools or priorities.
func sinceQuota(n *api.Namespace) (int, string) {
	if n != nil && (n.Quota != "" || n.NodePoolConfiguration != nil || n.Priorities != nil) {
		return 3, limitsNamespaces
	}
	return firstLevel, ""
}

// RestoredLevelError rejects the snapshot of a cluster with a higher level than this one.
func RestoredLevelError(snapshot, own int) error {
	return api.Errorf(api.CodeConflict, "cannot restore the snapshot: it has feature level %d, and this cluster has level %d until all of its servers are upgraded; see reeve server list; the state is unchanged", snapshot, own)
}
