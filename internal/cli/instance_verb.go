// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// instanceVerb describes a command that applies one verb to an instance.
type instanceVerb struct {
	verb    api.Verb
	short   string
	long    string
	example string
	tasks   bool   // the verb can apply to single tasks
	careful string // question to confirm, a format of instance and job; "" asks nothing
}

const instanceVerbExitCodes = `0  accepted; "reeve instance show" shows the progress
1  rejected; nothing has changed`

func (c *cli) instanceVerb(v instanceVerb) *command {
	var req api.InstanceRequest
	d := &command{
		use:       string(v.verb) + " JOB INSTANCE",
		short:     v.short,
		long:      v.long,
		example:   v.example,
		exitCodes: instanceVerbExitCodes,
		format:    true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Reason, "reason", "", "record `TEXT` as the reason of the decision")
			if v.tasks {
				f.StringSliceVar(&req.Tasks, "task", nil, "select only the task `NAME`; repeatable")
			}
		},
		run: func(r *call) error {
			job := r.args[0]
			req.By = c.operator()
			resp, err := r.cl.Instances().Do(r.ctx, job, r.args[1], v.verb, &req)
			if err != nil {
				return err
			}
			return r.show(resp, func(p *term.Page) { view.InstanceDone(p, job, v.verb, resp) })
		},
	}
	if v.careful != "" {
		d.confirm = func(r *call) (string, error) { return fmt.Sprintf(v.careful, r.args[1], r.args[0]), nil }
	}
	return d
}
