// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func deploymentFailCommand(*cli) *command {
	return deploymentVerb(&command{
		use:   "fail DEPLOYMENT",
		short: "End a deployment as failed",
		long: `End a running deployment as failed. Running instances continue to run. With
auto_revert the job reverts to its last stable version.`,
	}, "has failed", "", func(r *call) (*api.DeploymentResponse, error) {
		return r.cl.Deployments().Fail(r.ctx, r.args[0])
	})
}

func deploymentPauseCommand(*cli) *command {
	return deploymentPause(&command{
		use:   "pause DEPLOYMENT",
		short: "Pause a deployment",
		long: `Pause a running deployment: it places no further instances. "plan interrupt JOB
deploy" does the same. "deployment resume" continues it.`,
	}, true, "is paused", "Resume it:  reeve deployment resume ")
}

func deploymentResumeCommand(*cli) *command {
	return deploymentPause(&command{
		use:   "resume DEPLOYMENT",
		short: "Resume a paused deployment",
		long:  "Continue a paused deployment from its current state.",
	}, false, "continues", followDeployment)
}

// deploymentPause completes the declaration of a command that pauses or resumes a
// deployment.
func deploymentPause(d *command, pause bool, done, next string) *command {
	var reason string
	d.flags = func(f *pflag.FlagSet) {
		f.StringVar(&reason, "reason", "", "record `TEXT` as the reason of the decision")
	}
	return deploymentVerb(d, done, next, func(r *call) (*api.DeploymentResponse, error) {
		return r.cl.Deployments().PauseAs(r.ctx, r.args[0], pause, r.operator(), reason)
	})
}

func deploymentPromoteCommand(*cli) *command {
	var groups []string
	return deploymentVerb(&command{
		use:   "promote DEPLOYMENT",
		short: "Promote canaries",
		long: `Promote the canaries of a deployment, in all groups or in the named ones: they
replace old instances, and the rollout continues with the other instances. The
server rejects the promotion while a canary is not healthy.`,
		example: "reeve deployment promote 1a2b3c4d\nreeve deployment promote -group web -group api 1a2b3c4d",
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&groups, "group", nil, "promote only the canaries of group `NAME`; repeatable")
		},
	}, "is promoted", followDeployment, func(r *call) (*api.DeploymentResponse, error) {
		return r.cl.Deployments().Promote(r.ctx, r.args[0], groups...)
	})
}

func deploymentUnblockCommand(*cli) *command {
	return deploymentVerb(&command{
		use:   "unblock DEPLOYMENT",
		short: "Unblock a deployment",
		long:  "Complete a deployment that waits for other regions.",
	}, "is unblocked", "", func(r *call) (*api.DeploymentResponse, error) {
		return r.cl.Deployments().Unblock(r.ctx, r.args[0])
	})
}

// followDeployment is the hint to follow a deployment, before its id.
const followDeployment = "Follow it:  reeve deployment status -monitor "

// deploymentVerb completes the declaration of a command that does one thing to a
// deployment. next is a hint for the operator, before the deployment's id.
func deploymentVerb(d *command, done, next string, do func(*call) (*api.DeploymentResponse, error)) *command {
	d.run = func(r *call) error {
		resp, err := do(r)
		if err != nil {
			return err
		}
		id := api.ShortID(r.args[0])
		fmt.Fprintf(r.Stdout, "Deployment %s %s.\n", id, done)
		if resp.RevertedJobVersion != nil {
			fmt.Fprintf(r.Stdout, "The job reverts to version %d.\n", *resp.RevertedJobVersion)
		}
		if next != "" {
			fmt.Fprintf(r.Stdout, "\n%s\n", next+id)
		}
		return nil
	}
	return d
}
