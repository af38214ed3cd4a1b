// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package coalesce lets callers that ask for the same thing at about the same time share one
// call. A caller never receives the result of a call that began before the caller asked, so
// that the result may be used for linearizable reads. This distinguishes the package from
// golang.org/x/sync/singleflight.
package coalesce
