// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/jobspec"
)

// loadAll reads the files of stacks. If some have errors, it lists them together with the errors that only
// the servers know, such as missing dependencies.
func (f *jobFile) loadAll(r *call, paths []string) ([]*loaded, error) {
	var all []*loaded
	var errs []error
	failed := false
	for _, path := range paths {
		in, err := f.load(r.cli, path)
		if err == nil && in.job.Stack == nil {
			err = fmt.Errorf("%s: job %q has no stack block: add stack { version = \"1.0.0\" }, or run it with: reeve job run %s", path, in.job.ID, path)
		}
		all, errs, failed = append(all, in), append(errs, err), failed || err != nil
	}
	if !failed {
		return all, nil
	}
	return nil, refuseFiles(r.ctx, r.cl, all, errs)
}

// refuseFiles adds what the servers refuse to the errors of files. An element of the list is nil if its file
// could not be read.
func refuseFiles(ctx context.Context, cl *client.Client, in []*loaded, errs []error) error {
	own := errors.Join(errs...)
	if slices.ContainsFunc(in, func(l *loaded) bool { return l == nil || l.job.Stack == nil }) {
		return own
	}
	_, err := cl.Stacks().Plan(ctx, &api.DeployStacksRequest{Jobs: jobsOf(in), Redeploy: true})
	var e *api.Error
	if !errors.As(err, &e) {
		return own
	}
	for i, l := range in {
		more := &api.Error{Code: e.Code, Message: e.Message}
		known := l.complaints()
		for _, text := range e.Detail {
			text, ok := strings.CutPrefix(text, fmt.Sprintf("unit %q, ", l.job.ID))
			if (ok || len(in) == 1) && !slices.Contains(known, text) {
				more.Detail = append(more.Detail, text)
			}
		}
		if len(more.Detail) > 0 {
			errs[i] = jobspec.Join(errs[i], l.explain(more))
		}
	}
	return errors.Join(errs...)
}

// complaints lists the errors of the job that need no server.
func (l *loaded) complaints() []string {
	job := l.job.Copy()
	job.Canonicalize()
	var e *api.Error
	if !errors.As(job.Validate(), &e) {
		return nil
	}
	return e.Detail
}

func jobsOf(in []*loaded) (jobs []*api.Job) {
	for _, l := range in {
		jobs = append(jobs, l.job)
	}
	return jobs
}

// explainAll shows in the files what a server refused. The details about a job begin with
// its unit if there are several. Only files means that nothing was deployed from earlier stacks.
func explainAll(in []*loaded, onlyFiles bool, err error) error {
	var e *api.Error
	if !errors.As(err, &e) || len(e.Detail) == 0 {
		return err
	}
	var errs []error
	rest := slices.Clone(e.Detail)
	for _, l := range in {
		part := &api.Error{Code: e.Code, Message: e.Message}
		rest = slices.DeleteFunc(rest, func(text string) bool {
			own, ok := strings.CutPrefix(text, fmt.Sprintf("unit %q, ", l.job.ID))
			if ok = ok || len(in) == 1 && onlyFiles; ok {
				part.Detail = append(part.Detail, own)
			}
			return ok
		})
		if len(part.Detail) > 0 {
			errs = append(errs, l.explain(part))
		}
	}
	if len(rest) > 0 {
		errs = append(errs, &api.Error{Code: e.Code, Message: e.Message, Detail: rest})
	}
	return errors.Join(errs...)
}
