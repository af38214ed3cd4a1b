// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func allocSignalCommand(c *cli) *command {
	var signal, task string
	return &command{
		use:     "signal ALLOC [TASK]",
		short:   "Send a signal to an allocation's tasks",
		example: "reeve alloc signal -s SIGHUP 3f2a",
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&signal, "signal", "s", "SIGKILL", "`NAME` of the signal")
			f.StringVar(&task, "task", "", "`NAME` of the task (default: all tasks)")
		},
		run: func(r *call) error {
			a := r.alloc
			name := strings.ToUpper(signal)
			if !strings.HasPrefix(name, "SIG") {
				name = "SIG" + name
			}
			err := r.cl.Allocations().Signal(r.ctx, a.ID, api.SignalAllocationRequest{Task: cmp.Or(r.arg(1), task), Signal: name})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Sent %s to allocation %s.\n", name, a)
			return nil
		},
	}
}
