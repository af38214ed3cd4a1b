// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/reeve-run/reeve/api"
)

func restartPod(q *request) error { return q.podVerb(api.VerbRestart, nil) }
func replacePod(q *request) error { return q.podVerb(api.VerbReplace, nil) }
func pausePod(q *request) error   { return q.filteredPodVerb(api.VerbPause) }
func resumePod(q *request) error  { return q.filteredPodVerb(api.VerbResume) }

// filteredPodVerb applies a verb to the tasks that the body lists, as "server" or
// "hello-0-server"; to all tasks without a body.
func (q *request) filteredPodVerb(verb api.Verb) error {
	var filter []string
	dec := json.NewDecoder(http.MaxBytesReader(q.w, q.r.Body, maxParameters))
	if err := dec.Decode(&filter); err != nil && !errors.Is(err, io.EOF) {
		return failf(http.StatusBadRequest, "")
	}
	return q.podVerb(verb, filter)
}

func (q *request) podVerb(verb api.Verb, filter []string) error {
	p, err := q.pathPod()
	if err != nil {
		return err
	}
	tasks, err := p.named(filter)
	if err != nil {
		return err
	}
	if !p.isAlready(verb, tasks) {
		req := &api.InstanceRequest{By: q.by()}
		if len(filter) > 0 {
			req.Tasks = tasks
		}
		resp, err := q.core.InstanceVerb(q.r.Context(), q.job.Namespace, q.job.ID, p.Name, verb, req)
		if err != nil {
			return err
		}
		if len(tasks) == 0 { // it has never been launched
			tasks = resp.Tasks
		}
	}
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = p.taskName(t)
	}
	return q.json(http.StatusOK, struct {
		Pod   string   `json:"pod"`
		Tasks []string `json:"tasks"`
	}{p.Name, names})
}

// named returns the pod's tasks that a filter names; all if it is empty.
func (p pod) named(filter []string) ([]string, error) {
	var tasks []string
	for _, t := range p.tasks() {
		if len(filter) == 0 || slices.Contains(filter, t.Name) || slices.Contains(filter, p.taskName(t.Name)) {
			tasks = append(tasks, t.Name)
		}
	}
	for _, name := range filter {
		if !slices.ContainsFunc(tasks, func(t string) bool { return name == t || name == p.taskName(t) }) {
			return nil, notFound("Pod", p.Name)
		}
	}
	return tasks, nil
}

// isAlready reports whether the tasks already have the state that the verb sets.
func (p pod) isAlready(verb api.Verb, tasks []string) bool {
	if verb != api.VerbPause && verb != api.VerbResume {
		return false
	}
	held := verb == api.VerbPause
	return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(t string) bool {
		l := p.launch(t)
		return (l != nil && l.Hold) != held
	})
}
