// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki holds the trust of a cluster: its certificate authority, the certificates of
// servers and nodes, join tokens and the operator's token, and the encryption of secrets that
// the replicated state contains.
//
// A cluster has an Authority of its own. A member proves its identity with a certificate:
// the common name is its id, the organizational unit its role, the organization the cluster.
// Members verify each other by chain, role and cluster, and never by host name, because a
// member keeps its identity when its address changes.
//
// The package is pure: it reads no file, opens no connection, and takes the time from its
// caller. Randomness comes from crypto/rand. Package trust keeps the files of a member.
package pki
