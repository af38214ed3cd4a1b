// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A task ends while its agent is down and the servers are away. The next agent starts it with the file of the
// last rendering, unless the task has changed that file.
func TestTemplateLastRenderingStartsTheTask(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"unchanged": nil,
		"changed":   func(path string) error { return os.WriteFile(path, []byte("x=three"), 0o600) },
		"removed":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				f := newValues()
				f.items["v"] = "one"
				withTemplates(b, f)
				a := allocation(api.JobTypeService, taskSpec("main", policy(5, "delay"), tmpl("restart", readX)))
				r := b.start(a)
				b.driver.Wait(1)
				path := filepath.Join(b.host.Dirs.Root(r.ID()), "main/local/a.conf")
				b.close()
				f.set(func() { f.away = true })
				if change != nil {
					if err := change(path); err != nil {
						t.Fatal(err)
					}
				}
				b.driver.Process("main").Exit(1)
				b.open()
				withTemplates(b, f)
				r = b.restore(a.Job)
				bubble.Pass(time.Hour)
				const words = "Template: Starts with the last rendering of its templates: the servers do not answer"
				if change != nil {
					b.want("starts with another file", 1, len(b.driver.Started()))
				} else {
					b.want("starts", 2, len(b.driver.Started()))
					b.want("the event", true, slices.Contains(story(r, "main"), words))
				}
				f.set(func() { f.away = false })
				bubble.Pass(time.Minute)
				b.want("starts after the return", 2, len(b.driver.Started()))
				b.want("the file", "x=one", b.rendered(r, "main"))
				f.set(func() { f.items["v"] = "two" })
				bubble.Pass(time.Minute)
				b.want("starts after a change", 3, len(b.driver.Started()))
				b.want("the changed file", "x=two", b.rendered(r, "main"))
			})
		})
	}
}
