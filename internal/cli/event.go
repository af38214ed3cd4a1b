// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func eventCommand(c *cli) *command {
	return &command{
		use:   "event",
		short: "Follow events",
		long:  "Every change of a job, evaluation, allocation, deployment or node is an event.",
		verbs: []constructor{eventStreamCommand},
	}
}
