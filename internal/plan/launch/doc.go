// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package launch interprets the servers' instructions for single tasks of an
// allocation, and what the node reports about the runs of these tasks.
package launch
