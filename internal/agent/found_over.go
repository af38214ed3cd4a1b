// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// takeOver prepares the state of an agent that ran alone for the cluster that this machine
// founds, and returns the id that the machine has in it, and the key that encrypts its variables;
// an empty id without such a state. The id is that of the machine's node, so that its tasks
// continue. Until the machine has its identity, takeOver may be repeated.
func (a *Agent) takeOver(advertise string) (id string, clusterKey []byte, err error) {
	dir := a.serverDir()
	owner, err := replica.Owner(dir)
	if err != nil {
		return "", nil, err
	}
	if owner == "" {
		return "", nil, a.checkDirectory()
	}
	self, err := node.ReadID(filepath.Join(a.config.DataDir, "node"))
	if err != nil {
		return "", nil, err
	}
	id = cmp.Or(self, owner)
	if clusterKey, err = server.ReadOwnKey(dir, a.guard); err != nil {
		return "", nil, err
	}
	err = replica.Rename(replica.Config{Dir: dir, Logger: a.log}, id, advertise, func(v *state.Snapshot) error {
		if v.Trust() == nil {
			return nil
		}
		return api.Errorf(api.CodeInvalid, "%s holds the state of a server of cluster %s, whose identity in %s is missing: restore that directory; or choose an empty data directory, and restore a snapshot there",
			dir, v.Trust().ClusterID, filepath.Join(a.config.DataDir, identityDir))
	})
	if err != nil {
		return "", nil, err
	}
	a.log.Info("the state of this data directory belongs to the new cluster now", "server", id)
	return id, clusterKey, nil
}

func (a *Agent) serverDir() string { return filepath.Join(a.config.DataDir, "server") }
