// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func allocSignalCommand(c *cli) *cobra.Command {
	var signal, task string
	cmd := &cobra.Command{
		Use:               "signal ALLOC [TASK]",
		Short:             "Send a signal to an allocation's tasks",
		Example:           "reeve alloc signal -s SIGHUP 3f2a",
		Args:              atMost(2, "ALLOC and TASK"),
		ValidArgsFunction: c.completeIDs(api.SearchAllocations),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("say which allocation to signal")
			}
			if len(args) == 2 {
				task = args[1]
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			a, err := c.readAllocation(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			name := strings.ToUpper(signal)
			if !strings.HasPrefix(name, "SIG") {
				name = "SIG" + name
			}
			err = cl.Allocations().Signal(cmd.Context(), a.ID, api.SignalAllocationRequest{Task: task, Signal: name})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Sent %s to allocation %s.\n", name, a)
			return nil
		},
	}
	cmd.Flags().StringVarP(&signal, "signal", "s", "SIGKILL", "`NAME` of the signal")
	cmd.Flags().StringVar(&task, "task", "", "`NAME` of the task; all of them otherwise")
	return cmd
}
