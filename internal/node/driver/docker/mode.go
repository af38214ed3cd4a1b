// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import "slices"

// Modes of the driver.
const (
	Auto      = "auto"      // the same as Container
	Daemon    = "daemon"    // by a Docker daemon
	Container = "container" // by the driver container
	Off       = "off"       // the node has no driver docker
)

// Modes returns the modes.
func Modes() []string { return []string{Auto, Daemon, Container, Off} }

// IsMode reports whether s names a mode; "" is Auto.
func IsMode(s string) bool { return s == "" || slices.Contains(Modes(), s) }
