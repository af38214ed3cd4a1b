// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if handled, code := Dispatch(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
