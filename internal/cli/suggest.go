// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/jobspec"
)

// nearCommands suggests commands for an unknown word after cmd: a similar command below
// cmd, or commands of that name elsewhere.
func nearCommands(cmd *cobra.Command, word string) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	if near := jobspec.Nearest(word, names); near != "" {
		return []string{cmd.CommandPath() + " " + near}
	}
	var elsewhere []string
	for _, noun := range cmd.Root().Commands() {
		if sub := subcommand(noun, word); sub != nil && sub.IsAvailableCommand() {
			elsewhere = append(elsewhere, sub.CommandPath())
		}
	}
	return elsewhere
}

// unknownCommand returns the error about a word that is no verb of cmd.
func unknownCommand(cmd *cobra.Command, word string) error {
	message := "unknown command \"" + cmd.CommandPath() + " " + word + "\""
	return usagef("%s%s", message, human.DidYouMean(nearCommands(cmd, word)...))
}

// flagError returns the error about an invalid flag, with a suggestion.
func flagError(cmd *cobra.Command, err error) error {
	message := flagMessage(err)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{message}
	}
	var names []string
	all := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(all)
	cmd.InheritedFlags().VisitAll(all)
	if near := jobspec.Nearest(unknown.GetSpecifiedName(), names); near != "" {
		message += human.DidYouMean("-" + near)
	}
	return &usageError{message}
}

// suggestJobs limits the jobs that are searched for a similar id.
const suggestJobs = 1000

// noSuchJob returns the error about an unknown job id, with a suggestion.
func noSuchJob(ctx context.Context, cl *client.Client, id string) error {
	if s, _, err := cl.Stacks().Get(ctx, id, nil); err == nil && s.IsExternal() {
		return api.Errorf(api.CodeNotFound, "stack %s has no job: it runs outside of Reeve, at %s; see it with: reeve stack status %s", s.Name, s.Address, s.Name)
	}
	message := "no job has an id with the prefix \"" + id + "\""
	jobs, _, err := cl.Jobs().List(ctx, &client.QueryOptions{PerPage: suggestJobs})
	if err != nil {
		return api.Errorf(api.CodeNotFound, "%s", message)
	}
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.ID
	}
	hint := "; \"reeve job status\" lists jobs"
	if near := jobspec.Nearest(id, names); near != "" {
		hint = human.DidYouMean(near)
	}
	return api.Errorf(api.CodeNotFound, "%s%s", message, hint)
}
