// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver

// Namespace returns the path of the task's network namespace; "" for the host's.
func (t *Task) Namespace() string {
	if t.Network == nil {
		return ""
	}
	return t.Network.Namespace
}
