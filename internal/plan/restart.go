// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// restartTree derives the plan restart.
func (s *survey) restartTree() *tree { return nil }
