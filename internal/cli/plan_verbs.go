// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
)

func planStartCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:  api.VerbStart,
		short: "Start a custom plan",
		long: `Start a custom plan of the job. Its steps run tasks inside the job's instances.
Parameters become environment variables of these tasks. A complete plan can be
started again with other parameters.`,
		example:    "reeve plan start web backup -p TARGET=s3://backups -reason weekly\nreeve plan start -watch web backup",
		parameters: true,
	})
}

func planStopCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:  api.VerbStop,
		short: "Stop a custom plan and its tasks, or reverse a shift",
		long: `End the run of a custom plan: stop its tasks, and start no further steps. "reeve
plan start" starts the plan from the beginning. For the plan shift of a stack:
return the traffic to the stack that had it before.`,
		example: "reeve plan stop web backup\nreeve plan stop -reason 'too many errors' inventory@1.1 shift",
		careful: "Stop %s and its work?",
	})
}

func planContinueCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbContinue,
		aliases: []string{"resume"},
		short:   "Continue an interrupted plan, phase or step",
		long: `Continue an interrupted plan, phase or step. In a phase with a canary strategy,
name the phase: the first "continue" releases one step, the second one all other
steps. A plan shift also continues past a step "wait".`,
		example: "reeve plan continue web deploy web -reason 'looks good'",
		parts:   true,
	})
}

func planInterruptCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbInterrupt,
		aliases: []string{"pause"},
		short:   "Interrupt a plan, phase or step",
		long: `Interrupt a plan, phase or step: started steps complete, and no further steps
start until "reeve plan continue". An interrupted plan shift keeps the share of
traffic, and an interrupted plan uninstall of a stack holds the stack.`,
		example: "reeve plan interrupt web deploy -reason 'lunch'\nreeve plan interrupt web deploy web",
		parts:   true,
	})
}

func planRestartCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbRestart,
		aliases: []string{"force-restart"},
		short:   "Repeat a plan, phase or step",
		long: `Repeat the steps of a plan or phase, or one step, even if they are complete. The
command also continues interrupted steps.`,
		example: "reeve plan restart web deploy web 'web-0:[server]'\nreeve plan restart -y web backup",
		parts:   true,
		careful: "Repeat %s, even if it is complete?",
	})
}

func planForceCompleteCommand(c *cli) *command {
	return c.planVerb(planVerb{
		verb:    api.VerbForceComplete,
		aliases: []string{"force"},
		short:   "Mark a plan, phase or step as complete",
		long: `Mark a step, or all steps of a phase or plan, as complete in their current
state, if they cannot complete otherwise. Running tasks continue to run, and the
plan does not start pending steps. The tree shows the operator and the reason.

A completed step of a plan shift has moved its share of the traffic, and a
completed plan shift all traffic. The phase grace of a stack's plan uninstall
ends immediately.`,
		example: "reeve plan force-complete -reason 'the node was removed' web uninstall kill 'kill-web-2'",
		parts:   true,
		careful: "Mark %s as complete, regardless of its state?",
	})
}
