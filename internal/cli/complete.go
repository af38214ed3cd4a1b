// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

// completeTimeout bounds how long a shell waits for ids.
const completeTimeout = 2 * time.Second

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeIDs completes the first argument with ids of one kind.
func (c *cli) completeIDs(kind string) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cl, err := c.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		found, err := cl.Status().Search(ctx, &api.SearchRequest{Prefix: prefix, Context: kind})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found.Matches[kind], cobra.ShellCompDirectiveNoFileComp
	}
}

// completeJobFiles completes names of job files.
func completeJobFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "nomad", "json", "yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}
