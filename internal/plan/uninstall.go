// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// uninstallTree derives the plan uninstall.
func (s *survey) uninstallTree() *tree { return nil }
