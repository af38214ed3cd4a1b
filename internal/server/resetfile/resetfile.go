// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package resetfile reads the file with which an administrator permits another bootstrap of access
// control. Its content gives a management token to the next trusted caller, so a file that other users
// could have written is ignored, with the reason.
package resetfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// name is the file in the server's directory, as in Nomad.
const name = "acl-bootstrap-reset"

// Path is the file in the data directory of an agent.
const Path = "server/" + name

// longest bounds the file, in bytes.
const longest = 64

// Read returns the number in the file of a server's directory; 0 if the file does not exist.
func Read(dir string) (uint64, error) {
	if dir == "" {
		return 0, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case errors.Is(err, unix.ELOOP):
		return 0, errors.New("it is a symbolic link; write a regular file")
	case err != nil:
		return 0, err
	}
	defer f.Close()
	if err := check(f); err != nil {
		return 0, err
	}
	text, err := io.ReadAll(io.LimitReader(f, longest+1))
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || len(text) > longest || number == 0 {
		return 0, errors.New("it must contain only the reset index, a number such as 17")
	}
	return number, nil
}

// check returns an error if other users than root and that of this process could have written the file.
func check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case !ok || owner.Uid != 0 && owner.Uid != uint32(os.Geteuid()):
		return fmt.Errorf("it belongs to another user than the agent's; change its owner with: chown %d", os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can write it (mode %#o); change it with: chmod 600", info.Mode().Perm())
	}
	return nil
}

// Remove deletes the file, which was used.
func Remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
