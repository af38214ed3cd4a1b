// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

// makeDir is the built-in plugin: a directory in the directory of volumes, by the volume's id. Its owner and
// mode are set once for each generation: later they belong to the tasks.
func (k *Keeper) makeDir(v *api.HostVolume, made bool) (outcome, error) {
	if !isID(v.ID) {
		return outcome{}, fmt.Errorf("%.64q is not the id of a volume", v.ID)
	}
	m, err := api.ParseMkdir(v.Parameters)
	if err != nil {
		return outcome{}, err
	}
	path := filepath.Join(k.config.Dir, v.ID)
	fresh := true
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		fresh = !made
	} else if err != nil {
		return outcome{}, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return outcome{}, &fs.PathError{Op: "open directory", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	if fresh {
		if m.UID >= 0 || m.GID >= 0 {
			if err := dir.Chown(m.UID, m.GID); err != nil {
				return outcome{}, err
			}
		}
		if err := dir.Chmod(m.Mode); err != nil {
			return outcome{}, err
		}
	}
	return outcome{path: path}, nil
}

// removeDir removes a volume with its content, which is hostile.
func (k *Keeper) removeDir(id string) error {
	dir, err := beneath.Open(k.config.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.RemoveAll(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
