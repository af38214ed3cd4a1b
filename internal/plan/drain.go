// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// drainTree derives the plan drain.
func (s *survey) drainTree() *tree { return nil }
