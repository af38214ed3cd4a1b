// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	sharedSecrets     = "/run/reeve"
	sharedSecretsSize = "64m"
)

// secretsDir returns the directory for the secrets of dataDir's allocations.
//
// An agent that is root keeps them in memory: all agents of the machine share a memory file system, in which
// each task has a mount of its own (see memory.go). It lies outside dataDir, so that the removal of dataDir
// never meets a mount. Where mounts are not possible, secrets are files in dataDir, in directories of mode 0700.
func secretsDir(dataDir string) string {
	plain := filepath.Join(dataDir, "secrets")
	if os.Geteuid() != 0 {
		return plain
	}
	sum := sha256.Sum256([]byte(dataDir))
	dir := filepath.Join(sharedSecrets, hex.EncodeToString(sum[:8]))
	if err := claimSecrets(dir, dataDir); err != nil {
		return plain
	}
	return dir
}

// Private returns the directories of an agent's files, which no task may see as a whole.
func Private(dataDir string) []string { return []string{dataDir, sharedSecrets} }

// claimSecrets prepares the shared directory, and records the owner of dir in a link beside
// it. It removes the secrets of data directories that no longer exist.
func claimSecrets(dir, dataDir string) error {
	shared := filepath.Dir(dir)
	if err := makeDir(shared, 0o711); err != nil {
		return err
	}
	lock, err := os.OpenFile(shared+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the secrets directory: %w", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the secrets directory: %w", err)
	}
	if err := mountSecrets(shared); err != nil {
		return err
	}
	links, err := filepath.Glob(filepath.Join(shared, "*"+ownerSuffix))
	if err != nil {
		return err
	}
	for _, link := range links {
		if _, err := os.Stat(link); errors.Is(err, fs.ErrNotExist) {
			if removeAllSecrets(strings.TrimSuffix(link, ownerSuffix)) == nil {
				os.Remove(link)
			}
		}
	}
	if err := os.Symlink(dataDir, dir+ownerSuffix); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("note whose secrets these are: %w", err)
	}
	return nil
}

// releaseSecrets undoes claimSecrets if dir is empty.
func releaseSecrets(dir string) {
	if os.Remove(dir) == nil {
		os.Remove(dir + ownerSuffix)
	}
}

const ownerSuffix = ".of"

// mountSecrets mounts the memory file system at dir if it is not mounted. The caller holds
// the lock.
func mountSecrets(dir string) error {
	var own unix.Stat_t
	if err := unix.Lstat(dir, &own); err != nil {
		return err
	}
	if own.Uid != 0 {
		return fmt.Errorf("%s belongs to user %d", dir, own.Uid)
	}
	if mounted, err := isMount(dir); err != nil || mounted {
		return err
	}
	return mountMemory(dir, "mode=0711,size="+sharedSecretsSize)
}

// checkSecrets verifies that secrets are still in memory: another program may have unmounted the file
// system, and what is written then would stay on the disk.
func (t *Tree) checkSecrets() error {
	if !t.inMemory {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(t.secrets, &st); err != nil {
		return fmt.Errorf("check the directory of secrets: %w", err)
	}
	if st.Type != unix.TMPFS_MAGIC || !isMountedIn(t.secrets) {
		return fmt.Errorf("the memory file system for secrets is not mounted at %s any longer: restart the agent, which mounts it", filepath.Dir(t.secrets))
	}
	return nil
}

// isMountedIn reports whether the shared directory above dir is a mount of its own, and not a part of
// a larger memory file system such as /run.
func isMountedIn(dir string) bool {
	mounted, err := isMount(filepath.Dir(dir))
	return err == nil && mounted
}

// SecretStorage describes where secrets are: "memory", or "disk" if the agent cannot mount a file system.
func (t *Tree) SecretStorage() string {
	if t.inMemory {
		return "memory"
	}
	return "disk"
}
