// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/templates"
)

// takeLast completes results with the last renderings of the templates whose values the servers do not send. So a task
// can start while the servers are away, also after its agent was restarted and has forgotten the values. The digests in the
// record prove that a file is the rendering of this template: the task may have changed it. It reports whether all
// results are complete; otherwise it changes none.
func (t *task) takeLast(a *api.Allocation, s *api.Task, results []*templates.Result) bool {
	t.r.mu.Lock()
	last := t.templates.Renderings
	t.r.mu.Unlock()
	files := make([][]byte, len(results))
	for i, r := range results {
		if r.Waiting == "" {
			continue
		}
		name, ok := api.TemplatePath(r.DestPath)
		if !ok || !r.Unread {
			return false
		}
		content, err := t.r.host.Dirs.ReadTemplate(a.ID, s.Name, name, maxSource)
		if err != nil || !r.IsRenderingOf(last[r.DestPath], content) {
			return false
		}
		files[i] = content
	}
	for i, r := range results {
		if r.Waiting != "" {
			r.Waiting, r.Content = "", files[i]
		}
	}
	t.sayTemplate("Starts with the last rendering of its templates: the servers do not answer")
	return true
}
