// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

// An argument is one word of a command's synopsis, as in "[TASK]".
type argument struct {
	name     string // without brackets and dots
	optional bool
	many     bool
}

// argumentsOf reads the arguments of a synopsis such as "show JOB [PLAN]".
func argumentsOf(use string) []argument {
	var list []argument
	for _, word := range strings.Fields(use)[1:] {
		name := strings.Trim(word, "[]")
		list = append(list, argument{
			name: strings.TrimSuffix(name, "..."), optional: strings.HasPrefix(word, "["), many: strings.HasSuffix(name, "..."),
		})
	}
	return list
}

// argumentAt returns the argument at a position, which may be one of many.
func argumentAt(list []argument, i int) (argument, bool) {
	switch n := len(list); {
	case i < n:
		return list[i], true
	case n > 0 && list[n-1].many:
		return list[n-1], true
	}
	return argument{}, false
}

// checkArguments reports missing and surplus arguments. A missing argument whose noun
// explains itself is left to resolveArguments. With lenient, arguments may be missing.
func checkArguments(list []argument, args []string, lenient bool) error {
	n := 0
	for _, a := range list {
		if a.optional || lenient {
			continue
		}
		if n++; n > len(args) && nouns[a.name].missing == nil {
			return usagef("missing argument %s", a.name)
		}
	}
	for i, arg := range args {
		if _, ok := argumentAt(list, i); !ok {
			return usagef("unexpected argument %q", arg)
		}
	}
	return nil
}

// An argumentNoun completes and resolves the arguments of one name. Arguments without an
// argumentNoun are plain values.
type argumentNoun struct {
	// complete lists values that begin with a prefix. Earlier arguments are as typed.
	complete func(r *call, prefix string) ([]string, error)
	// resolve replaces the beginning of an id with the whole id.
	resolve func(r *call, text string) (string, error)
	// missing returns an error that lists the possible values.
	missing func(r *call) error
}

// nouns holds the arguments that name objects.
var nouns map[string]argumentNoun

func init() {
	nouns = map[string]argumentNoun{
		"JOB":        {complete: idsOf(api.SearchJobs), resolve: (*call).jobArgument},
		"ALLOC":      {complete: idsOf(api.SearchAllocations), resolve: (*call).allocationArgument},
		"NODE":       {complete: idsOf(api.SearchNodes), resolve: (*call).nodeArgument},
		"EVAL":       {complete: idsOf(api.SearchEvaluations), resolve: (*call).evaluationArgument},
		"DEPLOYMENT": {complete: idsOf(api.SearchDeployments), resolve: (*call).deploymentArgument},
		"INSTANCE":   {complete: instanceNames, missing: missingInstance},
		"NAMESPACE":  {complete: idsOf(api.SearchNamespaces)},
		"QUOTA":      {complete: quotaNames},
		"POOL":       {complete: idsOf(api.SearchNodePools)},
		"STACK":      {complete: stackNames},
		"UNIT":       {complete: unitNames},
		"POLICY":     {resolve: (*call).policyArgument},
		"ROLE":       {complete: roleNames, resolve: (*call).roleArgument},
		"METHOD":     {complete: methodNames},
		"RULE":       {resolve: (*call).ruleArgument},
		"ACCESSOR":   {complete: accessors, resolve: (*call).tokenArgument},
		"PATH":       {complete: variablePaths},
		"PAGE":       {complete: uiPages},
	}
}

// resolveArguments replaces arguments with whole ids, and moves the client into the
// namespace of the job or allocation that one names.
func (r *call) resolveArguments(list []argument) error {
	r.args = slices.Clone(r.args)
	for i, text := range r.args {
		a, _ := argumentAt(list, i)
		resolve := nouns[a.name].resolve
		if resolve == nil {
			continue
		}
		id, err := resolve(r, text)
		if err != nil {
			return err
		}
		r.args[i] = id
	}
	for _, a := range list[min(len(r.args), len(list)):] {
		if missing := nouns[a.name].missing; missing != nil && !a.optional {
			return missing(r)
		}
	}
	return nil
}

func (r *call) jobArgument(text string) (string, error) {
	resolve := r.resolveJob
	switch {
	case r.removed:
		resolve = r.resolvePlans
	case r.units:
		resolve = r.resolveStarter
	}
	id, cl, err := resolve(r.ctx, r.cl, text)
	r.cl = cl
	return id, err
}

func (r *call) allocationArgument(text string) (string, error) {
	a, err := r.readAllocation(r.ctx, r.cl, text)
	if err != nil {
		return "", err
	}
	r.alloc, r.cl = a, r.cl.WithNamespace(a.Namespace)
	return a.ID, nil
}

func (r *call) nodeArgument(text string) (string, error) { return r.resolveNode(r.ctx, r.cl, text) }

func (r *call) evaluationArgument(text string) (string, error) {
	return r.resolveEvaluation(r.ctx, r.cl, text)
}

func (r *call) deploymentArgument(text string) (string, error) {
	return r.resolveDeployment(r.ctx, r.cl, text)
}

func (r *call) policyArgument(text string) (string, error) {
	return resolve(r.ctx, r.cl, "scaling policy", text, r.cl.Scaling().List, func(s *api.ScalingPolicyStub) match {
		return match{s.ID, "of group " + s.Target["Group"] + " of job " + s.Target["Job"]}
	})
}

// missingInstance returns an error that lists the instances of the job.
func missingInstance(r *call) error {
	list, _, err := r.cl.Instances().List(r.ctx, r.args[0], nil)
	if err != nil {
		return err
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	if n := len(names); n > maxMatches {
		names = append(names[:maxMatches], fmt.Sprintf("and %d more", n-maxMatches))
	}
	return usagef("missing argument INSTANCE: instances of job %q: %s", r.args[0], cmp.Or(strings.Join(names, ", "), "none"))
}

// idsOf completes ids of one kind.
func idsOf(kind string) func(*call, string) ([]string, error) {
	return func(r *call, prefix string) ([]string, error) {
		found, err := r.cl.Status().Search(r.ctx, &api.SearchRequest{Prefix: prefix, Context: kind})
		if err != nil {
			return nil, err
		}
		return found.Matches[kind], nil
	}
}

// instanceNames completes the instances of the job in the first argument.
func instanceNames(r *call, _ string) ([]string, error) {
	list, _, err := r.cl.Instances().List(r.ctx, r.arg(0), nil)
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names, err
}

// completeArguments completes arguments by their names.
func (c *cli) completeArguments(list []argument) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		a, _ := argumentAt(list, len(args))
		complete := nouns[a.name].complete
		if complete == nil {
			if len(args) == 0 && a.name != "" {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.completeFrom(cmd, args, prefix, complete)
	}
}

// completeFrom asks a server for values, within completeTimeout.
func (c *cli) completeFrom(cmd *cobra.Command, args []string, prefix string, complete func(*call, string) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	cl, err := c.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := complete(&call{cli: c, ctx: ctx, cl: cl, args: args, typed: args}, prefix)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.DeleteFunc(found, func(v string) bool { return !strings.HasPrefix(v, prefix) }), cobra.ShellCompDirectiveNoFileComp
}
