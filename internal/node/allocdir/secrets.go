// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	sharedSecrets     = "/run/reeve"
	sharedSecretsSize = "64m"
)

// secretsDir is where the secrets of dataDir's allocations go.
//
// An agent that is root keeps them on a memory file system that all agents of
// the machine share, bounded so that no task can fill the machine's /run. One
// for all tasks: with a mount per task, every start of an isolated task would
// copy all of them. It lies outside dataDir, so that removing dataDir never
// meets a mount. Where it cannot be had, secrets are files of mode 0700 in
// dataDir.
func secretsDir(dataDir string) string {
	plain := filepath.Join(dataDir, "secrets")
	if os.Geteuid() != 0 || mountSecrets(sharedSecrets) != nil {
		return plain
	}
	sum := sha256.Sum256([]byte(dataDir))
	return filepath.Join(sharedSecrets, hex.EncodeToString(sum[:8]))
}

// mountSecrets mounts the memory file system at dir, unless it is there.
func mountSecrets(dir string) error {
	if err := makeDir(dir, 0o711); err != nil {
		return err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the secrets directory: %w", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the secrets directory: %w", err)
	}
	var own, parent unix.Stat_t
	if err := unix.Lstat(dir, &own); err != nil {
		return err
	}
	if err := unix.Lstat(filepath.Dir(dir), &parent); err != nil {
		return err
	}
	if own.Uid != 0 {
		return fmt.Errorf("%s belongs to user %d", dir, own.Uid)
	}
	if own.Dev != parent.Dev {
		return nil
	}
	return unix.Mount("reeve-secrets", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0711,size="+sharedSecretsSize)
}
