// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// checkOwner rejects owners that the kernel would read as "unchanged" or truncate.
func checkOwner(h *tar.Header) error {
	for _, id := range []int{h.Uid, h.Gid} {
		if id < 0 || int64(id) >= math.MaxUint32 {
			return fmt.Errorf("the owner %d is not a user or group number", id)
		}
	}
	return nil
}

func (u *unpacker) setOwnerAndMode(fd int, h *tar.Header, mode int64) error {
	if u.privileged {
		if err := unix.Fchown(fd, h.Uid, h.Gid); err != nil {
			return fmt.Errorf("set the owner: %w", err)
		}
	}
	if err := unix.Fchmod(fd, uint32(mode)&0o7777); err != nil {
		return fmt.Errorf("set the mode: %w", err)
	}
	return nil
}

// lastTime is a second that every common file system can store.
const lastTime = 1 << 33

func setTime(in *beneath.Dir, base string, mtime time.Time) error {
	ts := unix.Timespec{Sec: min(max(mtime.Unix(), 0), lastTime), Nsec: int64(mtime.Nanosecond())}
	if err := unix.UtimesNanoAt(in.Fd(), base, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("set the time: %w", err)
	}
	return nil
}

const (
	xattrRecord = "SCHILY.xattr."
	capability  = "security.capability"
)

// setXattrs keeps the capabilities of files and the attributes of users. All others belong to
// the host: labels of its security module, or the bookkeeping of overlayfs, by which a layer
// could redirect a directory to another one.
func (u *unpacker) setXattrs(fd int, h *tar.Header) error {
	for record, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(record, xattrRecord)
		if !ok || strings.IndexByte(name, 0) >= 0 {
			continue
		}
		switch {
		case name == capability:
			if !u.privileged {
				continue
			}
		case strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay."):
		default:
			continue
		}
		err := unix.Fsetxattr(fd, name, []byte(value), 0)
		if errors.Is(err, unix.ENOTSUP) && name != capability {
			continue // the file system keeps none, and programs work without
		}
		if err != nil {
			return fmt.Errorf("set the extended attribute %s: %w", shorten(name), err)
		}
	}
	return nil
}

// opaqueAttribute hides the lower directories of the same name. Without privileges overlayfs
// reads the user's attribute, when it is mounted with userxattr.
func (u *unpacker) opaqueAttribute() string {
	if u.privileged {
		return "trusted.overlay.opaque"
	}
	return "user.overlay.opaque"
}

func (u *unpacker) setOpaque(d *beneath.Dir) error {
	if err := unix.Fsetxattr(d.Fd(), u.opaqueAttribute(), []byte("y"), 0); err != nil {
		return fmt.Errorf("mark the directory as opaque (the store's file system must keep extended attributes): %w", err)
	}
	return nil
}

// whiteout removes a name of the lower layers. It does not concern entries of its own layer.
func (u *unpacker) whiteout(in *beneath.Dir, base string) error {
	if base == opaqueName {
		return u.setOpaque(in)
	}
	if strings.HasPrefix(base, reservedPrefix) {
		u.size.Skipped++ // other marks of AUFS
		return nil
	}
	name := strings.TrimPrefix(base, whiteoutPrefix)
	if name == "" || name == "." || name == ".." {
		return errors.New("the whiteout names no file")
	}
	kind, err := kindOf(in, name)
	if err != nil {
		return err
	}
	switch kind {
	case 0:
		// Kernels since 5.8 let every user create this device, which opens nothing.
		if err := unix.Mknodat(in.Fd(), name, unix.S_IFCHR, 0); err != nil {
			return fmt.Errorf("create the whiteout: %w", err)
		}
	case unix.S_IFDIR: // the directory of this layer stays, and the lower one disappears
		d, err := in.Dir(name)
		if err != nil {
			return err
		}
		defer d.Close()
		return u.setOpaque(d)
	}
	return nil
}
