// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"

	"github.com/reeve-run/reeve/internal/server/replica"
)

// RecoverServer makes the server of a stopped agent the only voter of its cluster. See
// replica.Recover.
func RecoverServer(dataDir string, dryRun bool) (replica.Recovery, error) {
	if _, err := os.Stat(dataDir); err != nil {
		return replica.Recovery{}, unusable(dataDir, err)
	}
	lock, err := lockDir(dataDir)
	if err != nil {
		return replica.Recovery{}, err
	}
	defer lock.Close()
	return replica.Recover(replica.Config{Dir: filepath.Join(dataDir, "server")}, dryRun)
}
