// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import "slices"

// Keep removes cores from those that can be dedicated to tasks.
func (m *Machine) Keep(cores []uint16) {
	if len(cores) == 0 {
		return
	}
	m.Resources.CPU.ReservableCPUCores = slices.DeleteFunc(m.Resources.CPU.ReservableCPUCores, func(id uint16) bool {
		return slices.Contains(cores, id)
	})
	m.setInt("cpu.reservablecores", int64(len(m.Resources.CPU.ReservableCPUCores)))
}
