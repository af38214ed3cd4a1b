// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
)

func instanceRestartCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbRestart,
		short: "Restart an instance where it is",
		long: `Restarts an instance's tasks on the same node, in the same directory, with the
version that it has.`,
		example: "reeve instance restart web web-0 -reason 'it leaks'",
		tasks:   true,
	})
}

func instanceReplaceCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbReplace,
		short: "Replace an instance, with an empty directory, anywhere",
		long: `Gives an instance up and starts it anew on any node that suits, with an empty
directory. What its tasks keep in their directory is lost.`,
		example: "reeve instance replace web web-0",
		careful: "Replace %s of job %q? What it keeps in its directory is lost.",
	})
}

func instancePauseCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:  api.VerbPause,
		short: "Stop an instance's tasks, and keep its place",
		long: `Stops an instance's tasks, and leaves everything else as it is: its place, its
ports and its directory, in which "reeve alloc fs" and "exec" work. It is not
started again, whatever happens to the servers or the node, until "resume".`,
		example: "reeve instance pause web web-0 -task server",
		tasks:   true,
	})
}

func instanceResumeCommand(c *cli) *command {
	return c.instanceVerb(instanceVerb{
		verb:    api.VerbResume,
		short:   "Let a paused instance go on",
		long:    "Starts the tasks of an instance that was paused.",
		example: "reeve instance resume web web-0",
		tasks:   true,
	})
}
