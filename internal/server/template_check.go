// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/template"
)

// eachTemplate calls each for every inline template of a job that can be parsed, or with the error.
func eachTemplate(j *api.Job, each func(at string, g *api.Group, t *api.Task, parsed *template.Template, err error)) {
	for _, g := range j.Groups {
		for _, t := range g.Tasks {
			for i, tmpl := range t.Templates {
				if tmpl == nil || tmpl.EmbeddedTmpl == "" {
					continue
				}
				parsed, err := template.Parse(tmpl.EmbeddedTmpl, template.Options{Left: tmpl.LeftDelim, Right: tmpl.RightDelim, Strict: tmpl.ErrMissingKey})
				each(fmt.Sprintf("group %q: task %q: template %d (%q): data", g.Name, t.Name, i+1, tmpl.DestPath), g, t, parsed, err)
			}
		}
	}
}

// templateProblems lists the errors in a job's inline templates.
func templateProblems(j *api.Job) (problems []string) {
	eachTemplate(j, func(at string, _ *api.Group, _ *api.Task, _ *template.Template, err error) {
		if err == nil {
			return
		}
		var in *template.Error
		if errors.As(err, &in) && in.Line > 0 {
			at, err = fmt.Sprintf("%s, line %d", at, in.Line), errors.New(in.Message)
		}
		problems = append(problems, at+": "+api.Printable(err.Error(), 500))
	})
	return problems
}

// maxTemplateWarnings bounds the warnings of a job.
const maxTemplateWarnings = 16

// templateWarnings lists the variables that inline templates name and that do not exist, or that their tasks may not
// read: the tasks would wait for them.
func (s *Server) templateWarnings(v *state.Snapshot, j *api.Job) (warnings []string) {
	eachTemplate(j, func(at string, g *api.Group, t *api.Task, parsed *template.Template, err error) {
		if err != nil {
			return
		}
		for _, d := range parsed.Literals() {
			if len(warnings) >= maxTemplateWarnings {
				return
			}
			namespace := d.Namespace
			if namespace == "" {
				namespace = j.Namespace
			}
			at := fmt.Sprintf("%s: variable %q", at, d.Name)
			switch exists, refusal := s.taskMayRead(v, j, g.Name, t.Name, namespace, d.Name); {
			case refusal != "":
				warnings = append(warnings, fmt.Sprintf("%s of namespace %q may not be read by the task, which will wait for it: %s; grant it with: reeve acl policy apply -namespace %s -job %s NAME FILE",
					at, namespace, refusal, j.Namespace, j.ID))
			case !exists:
				warnings = append(warnings, fmt.Sprintf("%s does not exist in namespace %q, and the task will wait for it; create it with: reeve var put -namespace %s %s KEY=VALUE",
					at, namespace, namespace, d.Name))
			}
		}
	})
	return warnings
}
