// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A call is one execution of a command.
type call struct {
	*cli
	ctx     context.Context
	cl      *client.Client  // in the namespace of the first object that an argument names; nil if offline
	args    []string        // arguments, with whole ids
	typed   []string        // arguments as typed
	alloc   *api.Allocation // allocation that ALLOC names
	flags   *pflag.FlagSet
	format  format
	detach  bool          // -detach
	timeout time.Duration // -timeout; 0: none
	wide    bool          // -verbose
	yes     bool          // -yes
	removed bool          // see command
	units   bool          // see command
}

// arg returns the i-th argument, or "" if it is absent.
func (r *call) arg(i int) string {
	if i >= len(r.args) {
		return ""
	}
	return r.args[i]
}

// show prints v for people, or in the format of the flags.
func (r *call) show(v any, people func(*term.Page)) error { return r.cli.show(r.format, v, people) }

// followJob reports a change of a job, and follows its evaluation unless -detach is set.
func (r *call) followJob(job, done, eval string) error {
	return r.watchJob(job, func(r *call) error { return r.cli.follow(r.ctx, r.cl, job, done, eval, r.detach, r.wide) })
}

// watchJob follows a change of a job, for the time of -timeout.
func (r *call) watchJob(job string, follow func(*call) error) error {
	limited, cancel := r.limited()
	defer cancel()
	err := follow(limited)
	if isLate(limited.ctx, err) {
		return lateError(fmt.Sprintf("the change of job %q", job), r.timeout, "reeve plan show -watch "+view.JobArgs(r.cl.Namespace(), job))
	}
	return err
}

// ask asks a question, unless it is empty. It returns an error if the answer is no.
func (r *call) ask(question string, strict bool) error {
	if question == "" || !strict && !term.IsTerminal(r.Stdin) {
		return nil
	}
	return r.confirm(question)
}

// execute checks a call, connects, and finishes the call.
func (d *command) execute(r *call) error {
	if err := checkArguments(argumentsOf(d.use), r.args, d.ownArgs); err != nil {
		return err
	}
	if err := d.checkTimeout(r); err != nil {
		return err
	}
	if d.check != nil {
		if err := d.check(r); err != nil {
			return err
		}
	}
	if !d.offline {
		var err error
		if r.cl, err = r.connect(); err != nil {
			return err
		}
	}
	if !d.each {
		return d.finish(r)
	}
	var errs []error
	for _, text := range r.typed {
		one := *r
		one.args, one.typed = []string{text}, []string{text}
		errs = append(errs, d.finish(&one))
	}
	return errors.Join(errs...)
}

// finish resolves the arguments of a checked call, asks for confirmation, and runs the
// command.
func (d *command) finish(r *call) error {
	if !d.offline && !d.ownArgs {
		if err := r.resolveArguments(argumentsOf(d.use)); err != nil {
			return err
		}
	}
	if d.confirm != nil && !r.yes {
		question, err := d.confirm(r)
		if err != nil {
			return err
		}
		if err := r.ask(question, d.strict); err != nil {
			return err
		}
	}
	if err := d.run(r); err != nil {
		return err
	}
	r.refreshRoots(r.ctx, r.cl)
	return nil
}

// confirm asks a question that needs "y" on a terminal.
func (c *cli) confirm(question string) error {
	if !term.IsTerminal(c.Stdin) {
		return usagef("%s Give the full id, or set -yes", question)
	}
	fmt.Fprintf(c.Stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(c.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("cancelled")
	}
	return nil
}
