// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
)

func instanceRestartCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbRestart,
		short: "Restart an instance in place",
		long: `Restart the tasks of an instance on the same node, in the same directory, with
their current version.`,
		example: "reeve instance restart web web-0 -reason 'it leaks'",
		tasks:   true,
	})
}

func instanceReplaceCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbReplace,
		short: "Replace an instance on any node, with an empty directory",
		long: `Stop an instance and start it again on any feasible node, with an empty
directory. The content of its directory is lost.`,
		example: "reeve instance replace web web-0",
		careful: "Replace %s of job %q? The content of its directory is lost.",
	})
}

func instancePauseCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbPause,
		short: "Pause an instance: stop its tasks, and keep its allocation",
		long: `Stop the tasks of an instance, and keep its allocation, ports and directory.
"reeve alloc fs" and "exec" continue to work. The tasks start again only after
"resume", even if servers or the node restart.`,
		example: "reeve instance pause web web-0 -task server",
		tasks:   true,
	})
}

func instanceResumeCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:    api.VerbResume,
		short:   "Resume a paused instance",
		long:    "Start the tasks of a paused instance.",
		example: "reeve instance resume web web-0",
		tasks:   true,
	})
}
