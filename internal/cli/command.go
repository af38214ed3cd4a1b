// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A command declares one command: its help, its flags, its arguments, and its
// work. Help, completion, and the checks of arguments come from the declaration.
type command struct {
	use       string // name and arguments, as in "stop ALLOC [TASK]"; see argument
	aliases   []string
	short     string
	long      string
	example   string
	exitCodes string // one "CODE  meaning" per line; "" for defaultExitCodes
	errorCode int    // exit code of errors; 0 for exitError
	hidden    bool

	verbs   []constructor      // commands below a noun, which has no run
	unknown func(string) error // error about an unknown verb, or nil for the usual one

	flags    func(*pflag.FlagSet)
	format   bool       // the command has -json and -t; call.show uses them
	follow   bool       // the command has -detach, -verbose and -timeout; call.followJob uses them
	limit    bool       // the command has -timeout; call.limited uses it
	complete completion // replaces the completion of arguments by their names
	each     bool       // the command runs once per argument
	ownArgs  bool       // run reports missing arguments, and resolves them
	passArgs bool       // everything after the first argument belongs to another program
	offline  bool       // the command needs no client
	removed  bool       // JOB may name a removed job whose plan uninstall still exists
	units    bool       // JOB may name a unit: UNIT or UNIT@VERSION

	// check rejects flags and arguments before anything is sent.
	check func(*call) error
	// confirm returns a question to ask on the terminal before run, or "". The command
	// has the flag -yes. Without a terminal, a strict command needs the flag.
	confirm func(*call) (string, error)
	strict  bool
	run     func(*call) error
}

// A constructor returns the declaration of a command. The declaration's functions share
// the variables of its flags.
type constructor func(*cli) *command

// build turns a declaration into a command of the flag library.
func (c *cli) build(d *command) *cobra.Command {
	cmd := &cobra.Command{
		Use: d.use, Aliases: d.aliases, Short: d.short, Long: d.long, Example: d.example, Hidden: d.hidden,
		Args: cobra.ArbitraryArgs, Annotations: map[string]string{},
	}
	annotate := func(key, value string, set bool) {
		if set {
			cmd.Annotations[key] = value
		}
	}
	annotate(annotationExitCodes, d.exitCodes, d.exitCodes != "")
	annotate(annotationErrorCode, strconv.Itoa(d.errorCode), d.errorCode != 0)
	annotate(annotationPassArgs, "1", d.passArgs)
	if d.run == nil {
		c.buildNoun(cmd, d)
		return cmd
	}
	r := &call{cli: c, flags: cmd.Flags(), removed: d.removed, units: d.units}
	d.addFlags(r)
	cmd.ValidArgsFunction = d.complete
	if d.complete == nil {
		cmd.ValidArgsFunction = c.completeArguments(argumentsOf(d.use))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.ctx, r.args, r.typed = cmd.Context(), args, args
		return d.execute(r)
	}
	return cmd
}

// buildNoun makes cmd print its help if it is called without a verb.
func (c *cli) buildNoun(cmd *cobra.Command, d *command) {
	add(cmd, "", c, d.verbs...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		if d.unknown != nil {
			if err := d.unknown(args[0]); err != nil {
				return err
			}
		}
		return unknownCommand(cmd, args[0])
	}
}

func (d *command) addFlags(r *call) {
	if d.format {
		r.format.addTo(r.flags)
	}
	if d.follow {
		r.flags.BoolVar(&r.detach, "detach", false, "return after the change is registered")
		r.flags.BoolVar(&r.wide, "verbose", false, "print full ids")
	}
	if d.follow || d.limit {
		r.flags.DurationVar(&r.timeout, "timeout", 0, "stop watching after `D`, with exit code 124; the operation continues")
	}
	if d.confirm != nil {
		r.flags.BoolVarP(&r.yes, "yes", "y", false, "do not ask for confirmation")
	}
	if d.flags != nil {
		d.flags(r.flags)
	}
	if d.passArgs {
		r.flags.SetInterspersed(false)
	}
}
