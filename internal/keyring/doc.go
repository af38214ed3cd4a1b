// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package keyring has the root keys, under which a cluster encrypts its variables, and the forms in
// which they are stored: sealed with the key of the cluster, which only its servers have, and sealed
// for the operator's recovery key. It is pure: no file, no connection, no clock.
package keyring
