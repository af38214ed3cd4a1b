// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
)

func planStartCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:  api.VerbStart,
		short: "Start a plan that the job declares, with parameters",
		long: `Starts a custom plan: its steps run tasks inside the job's instances. Parameters
become environment variables of those tasks. A plan that is complete may be
started again, with others.`,
		example:    "reeve plan start web backup -p TARGET=s3://backups -reason weekly\nreeve plan start -watch web backup",
		parameters: true,
	})
}

func planStopCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:  api.VerbStop,
		short: "Stop a custom plan, and what it runs",
		long: `Ends the run of a custom plan: tasks that it has started are stopped, and the
rest is not begun. "reeve plan start" starts it from its beginning.`,
		example: "reeve plan stop web backup",
		careful: "Stop %s, and what it runs?",
	})
}

func planContinueCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbContinue,
		aliases: []string{"resume"},
		short:   "Let what waits go on",
		long: `Lets a plan, phase or step go on that was interrupted. In a phase with a canary
strategy the first one releases one step, the second one the rest; name the
phase for that.`,
		example: "reeve plan continue web deploy web -reason 'looks good'",
		parts:   true,
	})
}

func planInterruptCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbInterrupt,
		aliases: []string{"pause"},
		short:   "Begin nothing new, until somebody continues",
		long: `Holds a plan, phase or step: what has begun goes on to its end, nothing new is
begun until "reeve plan continue".`,
		example: "reeve plan interrupt web deploy -reason 'lunch'\nreeve plan interrupt web deploy web",
		parts:   true,
	})
}

func planRestartCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbRestart,
		aliases: []string{"force-restart"},
		short:   "Do a plan, phase or step again",
		long: `Has the steps of a plan or phase, or one step, done again, also where they are
complete. What was interrupted goes on.`,
		example: "reeve plan restart web deploy web 'web-0:[server]'\nreeve plan restart -y web backup",
		parts:   true,
		careful: "Do %s again, also where it is complete?",
	})
}

func planForceCompleteCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbForceComplete,
		aliases: []string{"force"},
		short:   "Count a plan, phase or step as complete",
		long: `Has a step, or all steps of a phase or plan, count as complete as they are, for
when they never will be otherwise. What runs goes on running; what has not begun
is not begun by this plan. The tree shows who did so, and why.`,
		example: "reeve plan force-complete -reason 'the node is gone' web uninstall kill 'kill-web-2'",
		parts:   true,
		careful: "Count %s as complete, whatever it is?",
	})
}
