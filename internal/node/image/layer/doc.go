// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package layer unpacks a layer of an image below a directory, in the form that overlayfs
// stacks.
//
// A layer is hostile: its author chose every name, link target, size and time in it, and this
// process usually runs as root. Four rules hold:
//
//   - The kernel resolves the parent of each entry below the layer's own root (openat2 with
//     RESOLVE_IN_ROOT), as it would for a process in a chroot: a link to /etc leads to the
//     layer's etc. The last component is never followed.
//   - Every change is relative to the handle of that parent. No function passes a path of the
//     host to the kernel.
//   - No other process can reach the directory while a layer is being unpacked, so a name
//     cannot change between its inspection and its use.
//   - A Budget bounds entries, bytes, and names kept in memory, before the disk holds them.
//
// A layer stays in a directory of its own and never sees the layers below it. Its whiteouts
// become overlayfs whiteouts: a character device 0/0 for a removed name, and an extended
// attribute for an opaque directory. Devices in the archive are skipped: the runtime creates
// those that a container may have.
package layer
