// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package variables is a router's way to the variables of the cluster. A router has no rights of
// its own there: it uses an access token, as any program does. The package keeps no variable on
// disk, because variables contain private keys.
package variables
