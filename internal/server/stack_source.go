// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// keptFor says how long a submission can be deployed again.
const keptFor = "Reeve keeps the submission of a stack until 90 days after its end"

// RedeployStack deploys a second stack from the stored submission of one.
func (s *Server) RedeployStack(ctx context.Context, namespace, name string, req *api.StackVerbRequest) (*api.StackResponse, error) {
	if req == nil {
		req = &api.StackVerbRequest{}
	}
	snap := s.store.Snapshot()
	stack, err := findStack(snap, namespace, name)
	if err != nil {
		return nil, err
	}
	n, err := s.admitSubmission(snap, stack, stack.Namespace, req.Reason)
	if err != nil {
		return nil, err
	}
	res, err := s.deployAdmitted(ctx, []*newStack{n}, &api.DeployStacksRequest{Redeploy: true, By: cmp.Or(req.By, "unknown")}, false)
	if err != nil {
		return nil, err
	}
	if len(res.Stacks) == 0 { // removed since
		return nil, api.Errorf(api.CodeUnavailable, "another request removed the new stack of %s %s; list its stacks with: reeve stack list %s", stack.Unit, stack.Version, stack.Unit)
	}
	return &api.StackResponse{Stack: res.Stacks[0], Index: res.Index}, nil
}

// admitSource returns a new stack in a namespace from the submission of an earlier one. The
// source is UNIT@VERSION or the name of a stack, after NAMESPACE: if that is another one.
func (s *Server) admitSource(source, namespace string) (*newStack, error) {
	snap, from, name := s.store.Snapshot(), namespace, source
	if before, after, ok := strings.Cut(source, ":"); ok {
		from, name = before, after
	}
	if !api.IsNamespaceName(from) {
		return nil, api.Errorf(api.CodeInvalid, "source %q: %q is not the name of a namespace; write UNIT@VERSION or NAMESPACE:UNIT@VERSION", api.Printable(source, 128), api.Printable(from, 64))
	}
	stack, err := findSource(snap, from, name)
	if err != nil {
		return nil, err
	}
	return s.admitSubmission(snap, stack, namespace, "")
}

// findSource finds the stack that UNIT@VERSION or a name means.
func findSource(snap *state.Snapshot, namespace, name string) (*api.Stack, error) {
	unit, text, ok := strings.Cut(name, "@")
	if !ok {
		if _, _, _, ok := api.ParseStackName(name); !ok {
			return nil, api.Errorf(api.CodeInvalid, "source %q: must be UNIT@VERSION, such as inventory@1.0.0, or the name of a stack", api.Printable(name, 128))
		}
		if stack := snap.Stack(namespace, name); stack != nil {
			return stack, nil
		}
		return nil, api.Errorf(api.CodeNotFound, "stack %q not found in namespace %s; %s: list stacks with: reeve stack list -status terminated", name, namespace, keptFor)
	}
	if err := api.ValidateUnitName(unit); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "source %q: %v", api.Printable(name, 128), err)
	}
	version, err := api.ParseStackVersion(text)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "source %q: %v", api.Printable(name, 128), err)
	}
	var found []*api.Stack
	versions := make(map[string]bool)
	for s := range snap.StacksOfUnit(namespace, unit) {
		versions[s.Version.String()] = true
		if s.Version == version {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *api.Stack) int {
		return cmp.Or(b.DeployedAt.Compare(a.DeployedAt), strings.Compare(a.Name, b.Name))
	})
	switch {
	case len(versions) == 0:
		return nil, api.Errorf(api.CodeNotFound, "unit %q has no stacks in namespace %s, and none that ended in the last 90 days; name another namespace as NAMESPACE:%s", unit, namespace, name)
	case len(found) == 0:
		return nil, api.Errorf(api.CodeNotFound, "unit %q has no stack of version %s in namespace %s, only %s; %s", unit, version, namespace, someVersions(versions), keptFor)
	case slices.ContainsFunc(found, func(s *api.Stack) bool { return s.Digest != found[0].Digest }):
		return nil, api.Errorf(api.CodeConflict, "%s is ambiguous: the stacks %s have different content; name one of them instead", name, describeStacks(found))
	}
	return found[0], nil
}

// fewSources bounds the stacks or versions that an error lists.
const fewSources = 8

// someVersions lists versions, newest first.
func someVersions(versions map[string]bool) string {
	var list []api.StackVersion
	for text := range versions {
		if v, err := api.ParseStackVersion(text); err == nil {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b api.StackVersion) int { return b.Compare(a) })
	var texts []string
	for _, v := range list[:min(len(list), fewSources)] {
		texts = append(texts, v.String())
	}
	if more := len(list) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

func describeStacks(list []*api.Stack) string {
	var texts []string
	for _, s := range list[:min(len(list), fewSources)] {
		texts = append(texts, fmt.Sprintf("%s (%s, deployed %s)", s.Name, s.Status, s.DeployedAt.UTC().Format(time.RFC3339)))
	}
	return strings.Join(texts, ", ")
}

// admitSubmission returns a new stack in a namespace from the stored submission of one.
func (s *Server) admitSubmission(snap *state.Snapshot, stack *api.Stack, namespace, reason string) (*newStack, error) {
	submitted := snap.StackJob(stack.Namespace, stack.Name)
	switch {
	case stack.Shape == api.ShapeExternal:
		return nil, api.Errorf(api.CodeConflict, "stack %s runs outside of Reeve, which cannot deploy it; register another address with: reeve stack register -redeploy -version %s -address IP:PORT %s", stack.Name, stack.Version, stack.Unit)
	case submitted == nil:
		return nil, api.Errorf(api.CodeNotFound, "the submission of stack %s is not stored; deploy its job file again with: reeve stack deploy -redeploy FILE", stack.Name)
	}
	n, err := s.admitStack(unitJob(submitted, stack, namespace), namespace)
	if err != nil {
		return nil, fmt.Errorf("deploy the submission of stack %s: %w", stack.Name, err)
	}
	from := ""
	if stack.Namespace != namespace {
		from = stack.Namespace
	}
	n.reason = api.FromSubmissionText(stack.Name, from, reason)
	return n, nil
}

// unitJob returns the job as its user submitted it: newStack.build turned it into that of a stack.
func unitJob(submitted *api.Job, stack *api.Stack, namespace string) *api.Job {
	job := submitted.Copy()
	job.ID, job.Namespace = stack.Unit, namespace
	if job.Name == stack.Name {
		job.Name = job.ID
	}
	for _, g := range job.Groups {
		g.Routes = nil // a user may give a stack none
	}
	return job
}
