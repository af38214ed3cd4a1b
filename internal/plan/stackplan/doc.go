// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package stackplan derives the plans that only the jobs of stacks have: warming, shift,
// and the grace before uninstall. The stored stack and shift are the only source of
// their progress, so a verb on one of these plans changes the stack or the shift.
//
// The package is pure. The other plans of a stack's job, such as deploy, are those of any
// other job: internal/plan/derive.
package stackplan
