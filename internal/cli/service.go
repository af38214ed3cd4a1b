// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func serviceCommand(c *cli) *command {
	return &command{
		use:   "service",
		short: "List services and their addresses",
		long: `A service is a name for the addresses of instances. Only routable instances are
listed: they run, their checks pass, and they are not stopping.`,
		aliases: []string{"services"},
		verbs:   []constructor{serviceListCommand, serviceInfoCommand},
	}
}
