// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func instanceCommand(c *cli) *command {
	return &command{
		use:   "instance",
		short: "Look at, kill, restart, replace and pause instances of a job",
		long: `An instance is one of the places of a job's group, as in web-0: allocations hold
it one after the other. People who come from DC/OS may say "pod" as well.`,
		aliases: []string{"instances", "pod", "pods"},
		verbs:   []constructor{instanceListCommand, instanceShowCommand, instanceKillCommand, instanceRestartCommand, instanceReplaceCommand, instancePauseCommand, instanceResumeCommand},
	}
}
