// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func aclPolicyApplyCommand(c *cli) *command {
	var description string
	var job api.JobACL
	return &command{
		use:   "apply NAME FILE",
		short: "Create or change a policy",
		long: `Create the policy NAME with the rules in FILE ("-" is stdin), or replace its
rules. The change takes effect immediately for all tokens with the policy. The
policy "anonymous" applies to callers without a token. With -job, and also
-group and -task, the tasks of that job in the namespace of -namespace have the
policy, by their identities.

A name such as web.ci is that of a policy of the namespace web, with rules for
it and the namespaces below. Tokens with the capability delegate there apply it,
with at most their own rights.`,
		example: "reeve acl policy apply -description \"the web team\" web-team examples/acl/team.hcl\nreeve acl policy apply -namespace shop -job api shop-api api.hcl\nreeve acl policy apply web.ci examples/acl/team-ci.hcl",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&description, "description", "", "set the description to `TEXT` (default: unchanged)")
			f.StringVar(&job.JobID, "job", "", "tasks of the job `ID` have the policy (default: unchanged)")
			f.StringVar(&job.Group, "group", "", "only those of the group `NAME`")
			f.StringVar(&job.Task, "task", "", "only the task `NAME`")
		},
		run: func(r *call) error {
			file := r.arg(1)
			text, err := c.readPolicy(file)
			if err != nil {
				return err
			}
			p := &api.ACLPolicy{Name: r.arg(0), Description: description, Rules: text, Namespace: api.PolicyNamespace(r.arg(0))}
			if job != (api.JobACL{}) {
				job.Namespace = cmp.Or(c.namespace(), api.DefaultNamespace)
				p.JobACL = &job
			}
			if err := p.Validate(); err != nil {
				return err
			}
			stored, _, err := r.cl.ACL().Policy(r.ctx, p.Name, nil)
			if err != nil && api.CodeOf(err) != api.CodeNotFound {
				return err
			}
			verb := "Created"
			if stored != nil {
				verb = "Changed"
				if !r.flags.Changed("description") {
					p.Description = stored.Description
				}
				if p.JobACL == nil {
					p.JobACL = stored.JobACL
				}
			}
			if _, err := r.cl.ACL().PutPolicy(r.ctx, p); err != nil {
				return inPolicyFile(err, p.Name, policyFileName(file), text)
			}
			fmt.Fprintf(c.Stdout, "%s policy %q.\n", verb, p.Name)
			return nil
		},
	}
}

// maxPolicyFile bounds how much of a file is read: servers reject rules that are much smaller.
const maxPolicyFile = 1 << 20

// policyFileName returns the name of a file for errors.
func policyFileName(name string) string {
	if name == "-" {
		return "<stdin>"
	}
	return name
}

// readPolicy reads the rules of a policy; "-" is stdin.
func (c *cli) readPolicy(name string) (string, error) {
	in := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("read policy file: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPolicyFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read policy file: %w", err)
	case len(text) > maxPolicyFile:
		return "", api.Errorf(api.CodeInvalid, "read policy file: %s has more than %d bytes: divide it into several policies", policyFileName(name), maxPolicyFile)
	}
	return string(text), nil
}
