// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func instanceCommand(c *cli) *command {
	return &command{
		use:   "instance",
		short: "Inspect, kill, restart, replace and pause instances of a job",
		long: `An instance is one of the numbered places of a job's group, such as web-0.
Successive allocations run it. "pod" is an alias for users of DC/OS.`,
		aliases: []string{"instances", "pod", "pods"},
		verbs:   []constructor{instanceListCommand, instanceShowCommand, instanceKillCommand, instanceRestartCommand, instanceReplaceCommand, instancePauseCommand, instanceResumeCommand},
	}
}
