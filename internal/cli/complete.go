// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout bounds the time that a shell waits for ids.
const completeTimeout = 2 * time.Second

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeJobFiles completes names of job files.
func completeJobFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "nomad", "json", "yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}
