// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// normaliseArgs turns long flags with one dash (-json, -var k=v) into the two dashes
// that the flag library needs. Both forms work for every flag.
//
// A value may begin with a dash. So normaliseArgs walks down the tree of commands like
// the library, and keeps the values of flags unchanged.
func normaliseArgs(root *cobra.Command, args []string) []string {
	if len(args) > 1 && isCompletion(args[0]) {
		return append([]string{args[0]}, normaliseArgs(root, args[1:])...)
	}
	out := make([]string, 0, len(args))
	cmd := root
	positional := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case len(arg) < 2 || arg[0] != '-':
			sub := subcommand(cmd, arg)
			if !positional && sub != nil {
				cmd = sub
			} else {
				positional = true
			}
			out = append(out, arg)
			if positional && stopsAtArguments(cmd) {
				return append(out, args[i+1:]...)
			}
		default:
			name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			flag := lookupFlag(cmd, name)
			out = append(out, twoDashes(arg, name))
			if flag != nil && flag.NoOptDefVal == "" && !hasValue && i+1 < len(args) {
				i++
				out = append(out, args[i])
			}
		}
	}
	return out
}

// isCompletion reports whether arg is one of the hidden commands that shells use for
// completion.
func isCompletion(arg string) bool {
	return arg == cobra.ShellCompRequestCmd || arg == cobra.ShellCompNoDescRequestCmd
}

// twoDashes writes a flag for the library: a name of one letter keeps its single dash.
func twoDashes(arg, name string) string {
	if strings.HasPrefix(arg, "--") || len(name) == 1 {
		return arg
	}
	return "-" + arg
}

func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name || sub.HasAlias(name) {
			return sub
		}
	}
	return nil
}

// lookupFlag returns a flag of the command or of its parents.
func lookupFlag(cmd *cobra.Command, name string) *pflag.Flag {
	for ; cmd != nil; cmd = cmd.Parent() {
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			if len(name) == 1 {
				if f := set.ShorthandLookup(name); f != nil {
					return f
				}
			}
			if f := set.Lookup(name); f != nil {
				return f
			}
		}
	}
	return nil
}

// annotationPassArgs marks a command that passes everything after its first argument to
// another program.
const annotationPassArgs = "reeve/pass-args"

func stopsAtArguments(cmd *cobra.Command) bool { return cmd.Annotations[annotationPassArgs] != "" }
