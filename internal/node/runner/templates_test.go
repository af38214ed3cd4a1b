// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/templates"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// fakeValues answer requests for variables.
type fakeValues struct {
	mu      sync.Mutex
	items   map[string]string // by path: the value of the key x
	away    bool
	changed chan struct{}
}

func newValues() *fakeValues {
	return &fakeValues{items: map[string]string{}, changed: make(chan struct{})}
}

func (f *fakeValues) set(do func()) {
	f.mu.Lock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
	f.mu.Unlock()
	synctest.Wait()
	bubble.Pass(time.Second)
}

func (f *fakeValues) ask(ctx context.Context, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
	until := time.NewTimer(r.Wait)
	defer until.Stop()
	for {
		f.mu.Lock()
		if f.away {
			f.mu.Unlock()
			return nil, errors.New("no server answers")
		}
		answer := &api.TemplateValuesResponse{}
		for i, t := range r.Tasks {
			for k, n := range t.Needs {
				v := &api.TemplateValue{Task: i, Need: k, State: api.TemplateAbsent, Stamp: "-"}
				if text, ok := f.items[n.Name]; ok {
					v.State, v.Stamp, v.Variable = api.TemplatePresent, text, &api.Variable{Items: map[string]string{"x": text}}
				}
				if strings.HasPrefix(n.Name, "secret") {
					v.State, v.Stamp, v.Reason, v.Variable = api.TemplateForbidden, "!", "no rule is for it", nil
				}
				if v.Stamp != n.Stamp {
					answer.Values = append(answer.Values, v)
				}
			}
		}
		changed := f.changed
		f.mu.Unlock()
		if len(answer.Values) > 0 {
			return answer, nil
		}
		select {
		case <-changed:
		case <-until.C:
			return answer, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func withTemplates(b *bench, f *fakeValues) {
	b.host.Templates = templates.New(b.host.Context, f.ask, slog.New(slog.DiscardHandler))
}

func tmpl(mode, data string, change ...func(*api.Template)) func(*api.Task) {
	return func(t *api.Task) {
		one := &api.Template{DestPath: "local/a.conf", EmbeddedTmpl: data, ChangeMode: mode, Splay: ptr(time.Duration(0))}
		for _, do := range change {
			do(one)
		}
		t.Templates = append(t.Templates, one)
	}
}

func (b *bench) rendered(r *Runner, task string) string {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(b.host.Dirs.Root(r.ID()), task, "local/a.conf"))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

const readX = `x={{with nomadVar "v"}}{{.x}}{{end}}`

func TestTemplateMissingVariableWaitsAndThenStarts(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		withTemplates(b, f)
		r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("restart", readX))))
		bubble.Pass(time.Second)
		b.want("processes", 0, len(b.driver.Started()))
		s := r.Report().TaskStates["main"]
		want := `variable "v" of namespace "default", which does not exist; create it with: reeve var put -namespace default v KEY=VALUE`
		if len(s.Templates) != 1 || s.Templates[0].Waiting != want {
			t.Errorf("it waits for %+v", s.Templates)
		}
		if !slices.Contains(story(r, "main"), "Template: Waiting for "+want) {
			t.Errorf("no event tells it: %q", story(r, "main"))
		}
		f.set(func() { f.items["v"] = "one" })
		b.driver.Wait(1)
		b.want("the file", "x=one", b.rendered(r, "main"))
		if s := r.Report().TaskStates["main"].Templates[0]; s.Waiting != "" || s.Rendered.IsZero() {
			t.Errorf("afterwards: %+v", s)
		}
		for _, line := range story(r, "main") {
			if strings.Contains(line, "one") {
				t.Errorf("an event contains a value: %s", line)
			}
		}
	})
}

func TestTemplateForbiddenVariableIsExplained(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		withTemplates(b, f)
		r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("restart", `{{nomadVar "secret/x"}}`))))
		bubble.Pass(time.Second)
		want := `variable "secret/x" of namespace "default": the task may not read it: no rule is for it; grant it with: reeve acl policy apply -namespace default -job web NAME FILE`
		b.want("it waits for", want, r.Report().TaskStates["main"].Templates[0].Waiting)
		r.Stop("over", true) // a task that waits can be stopped
		synctest.Wait()
		<-r.Ended()
	})
}

func TestTemplateChangesActOnce(t *testing.T) {
	for mode, want := range map[string]struct {
		starts  int
		signals []string
		scripts int
	}{"restart": {2, nil, 0}, "signal": {1, []string{"SIGHUP"}, 0}, "script": {1, nil, 1}, "noop": {1, nil, 0}} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				f := newValues()
				f.items["v"] = "one"
				withTemplates(b, f)
				scripts := 0
				b.driver.Script(func([]string) int { scripts++; return 0 })
				r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl(mode, readX, func(t *api.Template) {
					t.ChangeSignal, t.ChangeScript = "SIGHUP", &api.ChangeScript{Command: "/bin/reload"}
					t.Splay = ptr(10 * time.Second)
				}))))
				b.driver.Wait(1)
				f.set(func() { f.items["other"] = "two" })
				f.set(func() { f.items["v"] = "two" })
				bubble.Pass(time.Minute)
				b.want("starts", want.starts, len(b.driver.Started()))
				b.want("the file", "x=two", b.rendered(r, "main"))
				b.want("scripts", want.scripts, scripts)
				var signals []string
				if mode == "signal" {
					signals = b.driver.Process("main").Signals()
				}
				b.want("signals", want.signals, signals)
			})
		})
	}
}

func TestTemplateEnvironment(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "one"
		withTemplates(b, f)
		b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("restart", "# c\nX={{(nomadVar \"v\").x | toJSON}}\n", func(t *api.Template) { t.Envvars = true }))))
		b.driver.Wait(1)
		if env := b.driver.Process("main").Task.Env; !slices.Contains(env, "X=one") {
			t.Errorf("environment: %q", env)
		}
		f.set(func() { f.items["v"] = "two" })
		b.driver.Wait(2)
		if env := b.driver.Process("main").Task.Env; !slices.Contains(env, "X=two") {
			t.Errorf("environment after the change: %q", env)
		}
	})
}

func TestTemplateServersThatAreAwayChangeNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "one"
		withTemplates(b, f)
		r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("restart", readX))))
		b.driver.Wait(1)
		f.set(func() { f.away = true })
		bubble.Pass(time.Hour)
		b.want("running", 1, len(b.driver.Running()))
		b.want("starts", 1, len(b.driver.Started()))
		if last := story(r, "main"); !strings.Contains(last[len(last)-1], "keep their last rendering") {
			t.Errorf("no event tells it: %q", last)
		}
		f.set(func() { f.away = false; f.items["v"] = "two" })
		bubble.Pass(time.Minute)
		b.want("starts after the return", 2, len(b.driver.Started()))
		b.want("the file", "x=two", b.rendered(r, "main"))
	})
}

func TestTemplateErrorsFailTheTaskWithoutAValue(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "canary"
		withTemplates(b, f)
		r := b.start(allocation(api.JobTypeBatch, taskSpec("main", tmpl("restart", `{{(nomadVar "v").x | parseInt}}`))))
		bubble.Pass(time.Second)
		text := strings.Join(story(r, "main"), "\n")
		if !strings.Contains(text, `template "local/a.conf": line 1: function parseInt: the text is not a whole number`) || strings.Contains(text, "canary") {
			t.Error(text)
		}
	})
}

func TestTemplateDestinationIsNeverALink(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "one"
		withTemplates(b, f)
		r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("noop", readX))))
		b.driver.Wait(1)
		outside := filepath.Join(b.dir, "outside")
		if err := os.WriteFile(outside, []byte("untouched"), 0o600); err != nil {
			t.Fatal(err)
		}
		local := filepath.Join(b.host.Dirs.Root(r.ID()), "main/local")
		for _, name := range []string{"a.conf", ".a.conf.new"} {
			os.Remove(filepath.Join(local, name))
			if err := os.Symlink(outside, filepath.Join(local, name)); err != nil {
				t.Fatal(err)
			}
		}
		f.set(func() { f.items["v"] = "two" })
		bubble.Pass(time.Second)
		b.want("the file", "x=two", b.rendered(r, "main"))
		if text, _ := os.ReadFile(outside); string(text) != "untouched" {
			t.Errorf("a file outside was written: %q", text)
		}
	})
}

// A virtual driver has tasks that need no directories.
type virtual struct{ driver.Driver }

func (virtual) WithoutDirs(*driver.Task) bool { return true }

// TestTemplateOfATaskWithoutDirectories renders a template for a driver that would need no directories.
func TestTemplateOfATaskWithoutDirectories(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "one"
		withTemplates(b, f)
		b.host.Drivers["fake"] = virtual{b.driver}
		r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl("restart", readX))))
		bubble.Pass(time.Second)
		b.want("starts", 1, len(b.driver.Started()))
		b.want("the file", "x=one", b.rendered(r, "main"))
	})
}
