// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator turns the requests of operators into decisions and restarts to
// store. It resolves the target of a request, and rejects requests that have no
// effect there. The plans interpret the stored decisions.
package operator
