// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import "os"

// The probe tries to read a file of the host from within the fetching process.
func init() {
	probe = func(path string) error {
		if b, err := os.ReadFile(path); err == nil {
			return refuse("read %q", b)
		}
		return refuse("cannot read it")
	}
}
