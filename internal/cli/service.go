// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func serviceCommand(c *cli) *command {
	return &command{
		use:   "service",
		short: "Look at services, and at who offers them now",
		long: `A service is a name that instances of jobs are found under. Only instances that
traffic may go to are listed: they run, their checks pass, and they do not
leave.`,
		aliases: []string{"services"},
		verbs:   []constructor{serviceListCommand, serviceInfoCommand},
	}
}
