// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reeve-run/reeve/internal/node/artifact"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// TestMain makes the test binary a reeve binary as well: supervisors and the
// examples' programs are started from whatever binary the agent is.
func TestMain(m *testing.M) {
	for _, dispatch := range []func([]string) (bool, int){supervise.Dispatch, artifact.Dispatch} {
		if handled, code := dispatch(os.Args[1:]); handled {
			os.Exit(code)
		}
	}
	if os.Getenv(asReeve) != "" || len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "example-") {
		runReeve()
	}
	supervisetest.EndImmediately()
	testscript.Main(m, map[string]func(){"reeve": runReeve})
}

// asReeve is set in the environment of test processes that are to be reeve.
const asReeve = "REEVE_CLI_TEST_PROCESS"

// runReeve is main of cmd/reeve, but for the supervisor.
func runReeve() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, OS())
	stop()
	os.Exit(code)
}
