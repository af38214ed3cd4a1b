// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func stackCommand(*cli) *command {
	return &command{
		use:   "stack",
		short: "Deploy versions of units side by side, and see why they are kept",
		long: `A unit is a name, such as inventory. A stack is one deployed version of it: a
job of its own that never changes. Stacks of a unit run side by side, traffic
shifts from one to the next, and a stack that nothing uses is removed.`,
		verbs: []constructor{
			stackDeployCommand, stackRedeployCommand, stackPlanCommand, stackRegisterCommand,
			stackListCommand, stackStatusCommand, stackWhyCommand,
			stackHoldCommand, stackUnholdCommand, stackExtendCommand, stackExpireCommand, stackRescueCommand, stackStopCommand,
			stackShiftCommand, stackGraphCommand, stackSweepCommand, stackPoliciesCommand,
		},
	}
}
