// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func deploymentFailCommand(c *cli) *cobra.Command {
	return c.deploymentChange("fail", "End a deployment as failed",
		`Ends a running deployment as failed. What runs goes on running; with auto_revert
the job goes back to its last stable version.`,
		"is failed", func(ctx context.Context, cl *client.Client, id string) (*api.DeploymentResponse, error) {
			return cl.Deployments().Fail(ctx, id)
		})
}

func deploymentPauseCommand(c *cli) *cobra.Command {
	return c.deploymentPause("pause", "Stop a deployment from going on",
		`Stops a running deployment from placing more, as "plan interrupt JOB deploy"
does. "deployment resume" lets it go on.`, "is paused", true)
}

func deploymentResumeCommand(c *cli) *cobra.Command {
	return c.deploymentPause("resume", "Let a paused deployment go on",
		"Lets a paused deployment go on where it stopped.", "goes on", false)
}

// deploymentPause is a command that pauses or resumes a deployment.
func (c *cli) deploymentPause(verb, short, long, done string, pause bool) *cobra.Command {
	var reason string
	cmd := c.deploymentChange(verb, short, long, done, func(ctx context.Context, cl *client.Client, id string) (*api.DeploymentResponse, error) {
		return cl.Deployments().PauseAs(ctx, id, pause, c.operator(), reason)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "why, kept with the decision as `TEXT`")
	return cmd
}

func deploymentPromoteCommand(c *cli) *cobra.Command {
	var groups []string
	cmd := c.deploymentChange("promote", "Have canaries take the places of what they stand beside",
		`Promotes the canaries of a deployment, of all groups or of those that are named:
they take the places of the old instances, which are stopped, and the rest
follows. It is refused while a canary is not healthy.`,
		"is promoted", func(ctx context.Context, cl *client.Client, id string) (*api.DeploymentResponse, error) {
			return cl.Deployments().Promote(ctx, id, groups...)
		})
	cmd.Example = "reeve deployment promote 1a2b3c4d\nreeve deployment promote -group web -group api 1a2b3c4d"
	cmd.Flags().StringSliceVar(&groups, "group", nil, "only the canaries of group `NAME`; several times")
	return cmd
}

func deploymentUnblockCommand(c *cli) *cobra.Command {
	return c.deploymentChange("unblock", "Let a blocked deployment end",
		"Lets a deployment end that waits for other regions.",
		"is unblocked", func(ctx context.Context, cl *client.Client, id string) (*api.DeploymentResponse, error) {
			return cl.Deployments().Unblock(ctx, id)
		})
}

// deploymentChange is a command that does one thing to a deployment.
func (c *cli) deploymentChange(verb, short, long, done string,
	do func(context.Context, *client.Client, string) (*api.DeploymentResponse, error),
) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " DEPLOYMENT",
		Short:             short,
		Long:              long,
		Args:              exactly(1, "DEPLOYMENT"),
		ValidArgsFunction: c.completeIDs(api.SearchDeployments),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.resolveDeployment(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			resp, err := do(cmd.Context(), cl, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deployment %s %s.\n", api.ShortID(id), done)
			if resp.RevertedJobVersion != nil {
				fmt.Fprintf(c.Stdout, "The job goes back to version %d.\n", *resp.RevertedJobVersion)
			}
			if next := deploymentAfter(verb, api.ShortID(id)); next != "" {
				fmt.Fprintf(c.Stdout, "\n%s\n", next)
			}
			return nil
		},
	}
}

// deploymentAfter suggests what comes after a verb.
func deploymentAfter(verb, id string) string {
	switch verb {
	case "pause":
		return "Go on:  reeve deployment resume " + id
	case "promote", "resume":
		return "Follow it:  reeve deployment status -monitor " + id
	}
	return ""
}
