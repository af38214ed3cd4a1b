// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func instanceKillCommand(*cli) *command {
	return &command{
		use:   "kill JOB INSTANCE",
		short: "Stop what holds an instance; it comes straight back",
		long: `Stops the allocation that holds an instance: it gets no more traffic, waits
its shutdown_delay, and is ended. What should run stays the same, so another
allocation takes its place at once. One that is CRASHED is tried again now, and
one that is UNCLAIMED is looked at again.

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
					p.Line("%s of job %q is not held by anything; it is looked at again.", i.Name, job)
				case i.State == api.InstanceCrashed:
					p.Line("%s of job %q is tried again now.", i.Name, job)
				default:
					p.Line("%s of job %q is killed: allocation %s. Another one takes its place.", i.Name, job, api.ShortID(i.Allocation))
				}
				p.Next("Look at it:  reeve instance show " + human.ShellQuote(job) + " " + human.ShellQuote(resp.Killed.Name))
			})
		},
	}
}
