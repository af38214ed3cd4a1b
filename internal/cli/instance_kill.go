// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func instanceKillCommand(*cli) *command {
	return &command{
		use:   "kill JOB INSTANCE",
		short: "Kill the allocation of an instance; another replaces it",
		long: `Stop the allocation of an instance: it receives no more traffic, waits for its
shutdown_delay, and ends. Another allocation replaces it immediately. A CRASHED
instance is retried now. An UNCLAIMED instance is evaluated again.

INSTANCE is a name such as web-0 or, if the job has one group, a number.`,
		example:   "reeve instance kill web 0",
		exitCodes: instanceVerbExitCodes,
		format:    true,
		run: func(r *call) error {
			job := r.args[0]
			resp, err := r.cl.Instances().Kill(r.ctx, job, r.args[1])
			if err != nil {
				return err
			}
			return r.show(resp, func(p *term.Page) {
				switch i := resp.Killed; {
				case i.Allocation == "":
					p.Line("%s of job %q has no allocation; its job is evaluated again.", i.Name, job)
				case i.State == api.InstanceCrashed:
					p.Line("%s of job %q is retried now.", i.Name, job)
				default:
					p.Line("Killed %s of job %q: allocation %s. Another allocation replaces it.", i.Name, job, api.ShortID(i.Allocation))
				}
				p.Next("Show it:  reeve instance show " + view.JobArgs(resp.Killed.Namespace, job) + " " + human.ShellQuote(resp.Killed.Name))
			})
		},
	}
}
