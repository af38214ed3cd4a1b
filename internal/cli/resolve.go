// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// maxMatches limits the listed matches of an ambiguous prefix.
const maxMatches = 20

// A match is one object whose id has the given prefix.
type match struct{ id, about string }

// resolveAllocation returns the full id for a prefix.
func (c *cli) resolveAllocation(ctx context.Context, cl *client.Client, prefix string) (string, error) {
	return resolve(ctx, cl, "allocation", prefix, cl.Allocations().List, func(a *api.AllocationListStub) match {
		return match{a.ID, fmt.Sprintf("%s, %s, created %s", a.Name, a.ClientStatus, human.NanosAge(c.Now(), a.CreateTime))}
	})
}

func (c *cli) resolveNode(ctx context.Context, cl *client.Client, prefix string) (string, error) {
	list := func(ctx context.Context, q *client.QueryOptions) ([]*api.NodeListStub, *client.QueryMeta, error) {
		nodes, meta, err := cl.Nodes().List(ctx, q)
		if err != nil || len(nodes) > 0 {
			return nodes, meta, err
		}
		return nodesNamed(ctx, cl, q.Prefix)
	}
	return resolve(ctx, cl, "node", prefix, list, func(n *api.NodeListStub) match {
		return match{n.ID, n.Name + ", " + n.Status}
	})
}

// nodesNamed returns the nodes with a name.
func nodesNamed(ctx context.Context, cl *client.Client, name string) ([]*api.NodeListStub, *client.QueryMeta, error) {
	all, meta, err := cl.Nodes().List(ctx, nil)
	var named []*api.NodeListStub
	for _, n := range all {
		if n.Name == name {
			named = append(named, n)
		}
	}
	return named, meta, err
}

func (c *cli) resolveEvaluation(ctx context.Context, cl *client.Client, prefix string) (string, error) {
	return resolve(ctx, cl, "evaluation", prefix, cl.Evaluations().List, func(e *api.Evaluation) match {
		return match{e.ID, fmt.Sprintf("of job %s, %s", e.JobID, e.Status)}
	})
}

func (c *cli) resolveDeployment(ctx context.Context, cl *client.Client, prefix string) (string, error) {
	return resolve(ctx, cl, "deployment", prefix, cl.Deployments().List, func(d *api.Deployment) match {
		return match{d.ID, fmt.Sprintf("of job %s version %d, %s", d.JobID, d.JobVersion, d.Status)}
	})
}

// resolve returns the id of the only object with a prefix.
func resolve[T any](ctx context.Context, cl *client.Client, noun, prefix string,
	list func(context.Context, *client.QueryOptions) ([]T, *client.QueryMeta, error), describe func(T) match,
) (string, error) {
	if prefix == "" {
		return "", usagef("the id of %s is empty", withArticle(noun))
	}
	if len(prefix) == term.IDWidth {
		return prefix, nil
	}
	found, _, err := list(ctx, &client.QueryOptions{Prefix: strings.ToLower(prefix), Namespace: "*"})
	if err != nil {
		return "", err
	}
	matches := make([]match, 0, len(found))
	for _, object := range found {
		matches = append(matches, describe(object))
	}
	return theOne(noun, "id", prefix, matches)
}

// theOne returns the only match, or an error that lists the matches.
func theOne(noun, what, prefix string, matches []match) (string, error) {
	switch len(matches) {
	case 0:
		return "", api.Errorf(api.CodeNotFound, "no %s has %s %s with the prefix %q", noun, articleOf(what), what, prefix)
	case 1:
		return matches[0].id, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q matches %d %ss; type more of the %s:", prefix, len(matches), noun, what)
	for i, m := range matches {
		if i == maxMatches {
			fmt.Fprintf(&b, "\n  and %d more", len(matches)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", m.id, m.about)
	}
	return "", &api.Error{Code: api.CodeInvalid, Message: b.String()}
}

func withArticle(noun string) string { return articleOf(noun) + " " + noun }

func articleOf(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// resolveJob returns the id of the job with this id, or of the only job with this
// prefix, and a client in the job's namespace. A caller who may not list jobs gives the whole id.
func (c *cli) resolveJob(ctx context.Context, cl *client.Client, prefix string) (string, *client.Client, error) {
	if prefix == "" {
		return "", nil, usagef("the id of the job is empty")
	}
	// A job with exactly this id comes first in the list.
	found, _, err := cl.Jobs().List(ctx, &client.QueryOptions{Prefix: prefix, PerPage: maxMatches + 1})
	if api.CodeOf(err) == api.CodeForbidden && c.namespace() != "*" {
		return prefix, cl, nil
	}
	if err != nil {
		return "", nil, err
	}
	matches := make([]match, 0, len(found))
	if all := c.namespace() == "*"; all {
		if found, err = exactFirst(ctx, cl, prefix, found); err != nil {
			return "", nil, err
		}
	}
	for _, j := range found {
		if j.ID == prefix {
			return j.ID, cl.WithNamespace(j.Namespace), nil
		}
		matches = append(matches, match{j.ID, j.Type + ", " + j.Status})
	}
	if len(matches) == 0 {
		return "", nil, noSuchJob(ctx, cl, prefix)
	}
	id, err := theOne("job", "id", prefix, matches)
	if err != nil {
		return "", nil, err
	}
	return id, cl.WithNamespace(found[0].Namespace), nil
}

// exactFirst puts the job of exactly this id before the other jobs of all namespaces. It
// returns an error if several namespaces have such a job.
func exactFirst(ctx context.Context, cl *client.Client, id string, found []*api.JobListStub) ([]*api.JobListStub, error) {
	exact, _, err := cl.Jobs().List(ctx, &client.QueryOptions{Prefix: id, Filter: fmt.Sprintf("ID == %q", id)})
	if err != nil || len(exact) < 2 {
		return append(exact, found...), err
	}
	e := api.Errorf(api.CodeInvalid, "job %q exists in %d namespaces; choose one of them with -namespace", id, len(exact))
	for _, j := range exact {
		e.Detail = append(e.Detail, fmt.Sprintf("%s: %s, %s", j.Namespace, j.Type, j.Status))
	}
	return nil, e
}

// resolvePlans is resolveJob for plans: it also finds the plan uninstall of a removed job, by
// the job's full id, and the stack of a unit's name, of UNIT@VERSION, or that is not registered yet.
func (c *cli) resolvePlans(ctx context.Context, cl *client.Client, name string) (string, *client.Client, error) {
	id, in, err := c.resolveJob(ctx, cl, name)
	if err == nil && id == name {
		return id, in, nil
	}
	if stack := c.stackOfPlans(ctx, cl, name); stack != "" {
		return stack, cl, nil
	}
	if pl, _, failed := cl.Plans().Get(ctx, name, api.PlanUninstall, nil); failed == nil {
		return name, cl.WithNamespace(pl.Namespace), nil
	}
	return id, in, err
}

// stackOfPlans returns the name of the stack that a name means; "" if it means none. A unit's name means
// its newest stack that is on its way, else the one that traffic shifts to, else the current target.
func (c *cli) stackOfPlans(ctx context.Context, cl *client.Client, name string) string {
	if name == "" || c.namespace() == "*" {
		return ""
	}
	unit, _, err := cl.Units().Get(ctx, name, nil)
	if err != nil || len(unit.Stacks) == 0 {
		stack, _, err := cl.Stacks().Get(ctx, name, nil)
		if err != nil {
			return ""
		}
		return stack.Name
	}
	for _, wanted := range []func(*api.StackStatus) bool{
		func(s *api.StackStatus) bool { return s.IsLive() && s.Status != api.StackReady },
		func(s *api.StackStatus) bool {
			return slices.ContainsFunc(unit.Shifts, func(shift *api.Shift) bool { return shift.To == s.Name })
		},
		func(s *api.StackStatus) bool { return s.Target },
	} {
		if i := slices.IndexFunc(unit.Stacks, wanted); i >= 0 {
			return unit.Stacks[i].Name
		}
	}
	return unit.Stacks[0].Name
}
