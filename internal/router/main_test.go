// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/letsencrypt/pebble/v2/va.VAImpl.processTasks")) // it has no end
}
