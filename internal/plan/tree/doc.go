// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package tree defines what plans consist of: trees of phases and steps. It executes
// their strategies (which steps may run now), applies the rulings of operators, and
// computes statuses and messages. It does not know why a step exists.
package tree
