// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// Prepare mounts all that the container consists of in a new mount namespace, which is the calling thread's alone, and writes
// the description for the runtime. A process that the thread starts has these mounts. See package thread.
func (t *Task) Prepare() error {
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = t.mount()
	}
	if err == nil && t.Spec.Runtime != "" {
		err = os.WriteFile(t.Spec.Stage+"/config.json", t.Spec.Config, 0o600)
	}
	if err == nil {
		err = unix.Chdir("/")
	}
	if err != nil {
		return fmt.Errorf("prepare the container: %w", err)
	}
	return LeaveKeyring()
}

// Run returns the runtime's call that starts the container.
func (t *Task) Run() []string {
	return []string{
		t.Spec.Runtime, "--root", t.Dir + "/" + stateName, "--log", t.Dir + "/" + logName, "--log-format", "json",
		"run", "--detach", "--no-new-keyring", "--pid-file", t.Dir + "/" + pidName, "--bundle", t.Spec.Stage, t.ID,
	}
}

// mount builds the stage. All sources are opened before the stage hides them, and mounted by
// their handles, which no task can exchange.
func (t *Task) mount() error {
	s := t.Spec
	// The container sees later mounts of the host where it shares them, and the host none of these.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("leave the host's mounts: %w", err)
	}
	var layers, binds, open []int
	defer func() {
		for _, fd := range open {
			unix.Close(fd)
		}
	}()
	for n, path := range s.Layers {
		fd, err := t.clone(unix.AT_FDCWD, path, false, true)
		if err != nil {
			return fmt.Errorf("layer %d of the image (%s): %w", n+1, path, err)
		}
		layers, open = append(layers, fd), append(open, fd)
	}
	for _, b := range s.Binds {
		if b.Node {
			binds = append(binds, -1)
			continue
		}
		fd, err := t.openBind(b)
		if err != nil {
			return fmt.Errorf("mount %s: %w", b.Source, err)
		}
		binds, open = append(binds, fd), append(open, fd)
	}
	upper, err := t.openUpper()
	if err != nil {
		return err
	}
	open = append(open, upper)
	work, err := unix.Open(s.Work, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Work, err)
	}
	open = append(open, work)
	if err := unix.Mount("reeve", s.Stage, "tmpfs", unix.MS_NOSUID, "mode=0755,size=16m"); err != nil {
		return fmt.Errorf("mount on %s: %w", s.Stage, err)
	}
	for _, dir := range []string{"/layers", "/binds"} {
		if err := os.Mkdir(s.Stage+dir, 0o755); err != nil {
			return err
		}
	}
	for n, fd := range layers {
		if err := attach(fd, s.Stage+"/layers/"+strconv.Itoa(n)); err != nil {
			return fmt.Errorf("layer %d of the image: %w", n+1, err)
		}
	}
	for n, fd := range binds {
		put := func() error { return attach(fd, StageBind(s.Stage, n)) }
		if s.Binds[n].Node {
			put = func() error { return t.makeNode(s.Binds[n], StageBind(s.Stage, n)) }
		}
		if err := put(); err != nil {
			return fmt.Errorf("mount %s: %w", s.Binds[n].Source, err)
		}
	}
	if err := t.overlay(len(layers), upper, work); err != nil {
		return err
	}
	return t.makeDirs()
}

// makeDirs creates missing directories in the container's root, as a process in it would.
func (t *Task) makeDirs() error {
	if len(t.Spec.Dirs) == 0 {
		return nil
	}
	root, err := beneath.Open(t.Spec.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range t.Spec.Dirs {
		if err := t.makeDir(root, path); err != nil {
			return fmt.Errorf("make the directory %s of the image: %w", path, err)
		}
	}
	return nil
}

func (t *Task) makeDir(root *beneath.Dir, path string) error {
	at := "/"
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parent, err := root.InRoot(at)
		if err != nil {
			return err
		}
		at += name + "/"
		err = unix.Mkdirat(parent.Fd(), name, 0o755)
		if err == nil && t.Spec.IDs != nil {
			err = unix.Fchownat(parent.Fd(), name, int(t.Spec.IDs.First), int(t.Spec.IDs.First), unix.AT_SYMLINK_NOFOLLOW)
		}
		parent.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// overlay mounts the container's root. Short names of the layers keep the options within the
// page that the kernel accepts. What the container changes need not survive a crash of the
// machine, after which it starts anew: so overlayfs syncs nothing.
func (t *Task) overlay(layers, upper, work int) error {
	s := t.Spec
	if layers == 0 {
		if err := os.Mkdir(s.Stage+"/layers/0", 0o755); err != nil {
			return err
		}
		layers = 1
	}
	var lower []string
	for n := layers - 1; n >= 0; n-- {
		lower = append(lower, strconv.Itoa(n))
	}
	if err := unix.Chdir(s.Stage + "/layers"); err != nil {
		return err
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d", strings.Join(lower, ":"), upper, work)
	err := unix.Mount("overlay", s.Root, "overlay", 0, options+",volatile")
	if errors.Is(err, unix.EINVAL) { // before Linux 5.10
		err = unix.Mount("overlay", s.Root, "overlay", 0, options)
	}
	if err != nil {
		return fmt.Errorf("mount the image's layers with overlayfs: %w", err)
	}
	return nil
}

// openUpper opens the directory of the container's changes, and gives it the owner of the
// container's root directory.
func (t *Task) openUpper() (int, error) {
	s := t.Spec
	fd, err := unix.Open(s.Upper, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", s.Upper, err)
	}
	if s.IDs != nil {
		if err := unix.Fchown(fd, int(s.IDs.First), int(s.IDs.First)); err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("give %s to the container: %w", s.Upper, err)
		}
	}
	return fd, nil
}
