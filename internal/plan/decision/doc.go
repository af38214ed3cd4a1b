// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision interprets the stored decisions of operators: rulings are the
// result of all decisions on a plan, its phases and its steps, and orders are the
// decisions about one instance. It does not know the plans.
package decision
