// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/cli/term"
)

// annotationExitCodes holds a command's exit codes, one "CODE  meaning" per line, if it
// has codes other than 0 and 1.
const annotationExitCodes = "reeve/exit-codes"

// defaultExitCodes describes the exit codes of other commands.
const defaultExitCodes = "0  done\n1  failed; stderr has the reason"

// addHelp makes -h and "reeve help" print pages of this package.
func (c *cli) addHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(c.Stdout, cmd, c.stdoutStyle()) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		writeHelp(c.Stderr, cmd, c.stderrStyle())
		return nil
	})
}

// writeHelp prints the help of one command: usage, description, examples, exit codes,
// flags.
func writeHelp(w io.Writer, cmd *cobra.Command, s term.Style) {
	fmt.Fprintf(w, "%s %s\n\n", s.Bold("Usage:"), useLine(cmd))
	fmt.Fprintln(w, longText(cmd))
	if cmd.HasAvailableSubCommands() {
		writeSubcommands(w, cmd, s)
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\n%s\n\n%s\n", s.Bold("Examples:"), indent(strings.TrimSpace(cmd.Example), "  "))
	}
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s\n\n%s\n", s.Bold("Exit codes:"), indent(exitCodes(cmd), "  "))
	}
	writeFlags(w, s.Bold("Flags:"), cmd.LocalNonPersistentFlags())
	if cmd.HasParent() {
		fmt.Fprintf(w, "\nRun \"reeve -help\" for the flags of every command.\n")
	} else {
		writeFlags(w, s.Bold("Flags of every command:"), cmd.PersistentFlags())
		fmt.Fprintf(w, "\nFlags take one dash or two. Run \"reeve COMMAND -help\" for details of a command.\n")
	}
}

// useLine returns the command with its flags and arguments.
func useLine(cmd *cobra.Command) string {
	path := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() {
		return path + " COMMAND"
	}
	_, args, _ := strings.Cut(cmd.Use, " ")
	if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
		path += " [FLAGS]"
	}
	return strings.TrimSpace(path + " " + args)
}

func longText(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return strings.TrimSpace(cmd.Long)
	}
	return cmd.Short + "."
}

func exitCodes(cmd *cobra.Command) string {
	if codes := cmd.Annotations[annotationExitCodes]; codes != "" {
		return strings.TrimSpace(codes)
	}
	return defaultExitCodes
}

// writeSubcommands lists the commands below a command, by group.
func writeSubcommands(w io.Writer, cmd *cobra.Command, s term.Style) {
	width := 0
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			width = max(width, len(sub.Name()))
		}
	}
	list := func(title, group string) {
		fmt.Fprintf(w, "\n%s\n\n", s.Bold(title+":"))
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group {
				fmt.Fprintf(w, "  %-*s  %s\n", width, sub.Name(), sub.Short)
			}
		}
	}
	if len(cmd.Groups()) == 0 {
		list("Commands", "")
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
}

// writeFlags lists flags with their values and defaults.
func writeFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	var names, usages []string
	width := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := flagName(f)
		if f.Value.Type() != "bool" && value != "" {
			name += " " + strings.ToUpper(value)
		}
		if f.Value.Type() != "bool" && f.DefValue != "" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		names, usages = append(names, name), append(usages, usage)
		width = max(width, len(name))
	})
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	for i, name := range names {
		fmt.Fprintf(w, "  %-*s  %s\n", width, name, term.Wrap(usages[i], width+4, 96))
	}
}

// flagName formats the names of a flag, as in "-t, -template".
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", -" + f.Name
	}
	return "-" + f.Name
}

// flagMessage formats an error of the flag library with single dashes.
func flagMessage(err error) string {
	message := strings.ReplaceAll(err.Error(), "--", "-")
	if name, ok := strings.CutPrefix(message, "unknown flag: "); ok {
		return "unknown flag " + name
	}
	return message
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}
