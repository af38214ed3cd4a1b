// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import "net/http"

// getTemplate returns the text of a template, before it is rendered.
func getTemplate(q *request) error {
	job, err := q.configuration()
	if err != nil {
		return err
	}
	g := job.Group(q.r.PathValue("pod"))
	if g == nil {
		return notFound("Pod", q.r.PathValue("pod"))
	}
	t := g.Task(q.r.PathValue("task"))
	if t == nil {
		return notFound("Task", q.r.PathValue("task"))
	}
	for _, tmpl := range t.Templates {
		if templateName(tmpl) == q.r.PathValue("config") {
			q.text(http.StatusOK, tmpl.EmbeddedTmpl)
			return nil
		}
	}
	return notFound("Config", q.r.PathValue("config"))
}
