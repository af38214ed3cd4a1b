// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package kms seals the keys of servers with keys that a key management service keeps, so that a
// server's disk alone does not open the secrets of its cluster.
package kms
