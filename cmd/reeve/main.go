// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command reeve is server, node agent and command line in one binary.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/reeve-run/reeve/internal/cli"
	"github.com/reeve-run/reeve/internal/node/artifact"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

func main() {
	for _, dispatch := range []func([]string) (bool, int){supervise.Dispatch, artifact.Dispatch} {
		if handled, code := dispatch(os.Args[1:]); handled {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := cli.Main(ctx, cli.OS())
	stop()
	os.Exit(code)
}
