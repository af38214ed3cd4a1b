// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
	"github.com/reeve-run/reeve/internal/template"
)

// A Rendering is what the ledger holds of a template's last rendering: no content, only digests with a salt.
type Rendering struct {
	Salt   string
	Text   string // digest of the template
	Inputs string // digest of the values
	Output string // digest of the content
	At     time.Time
}

// A Result is the result of rendering one template.
type Result struct {
	*api.Template
	Content []byte // nil if it waits or failed
	Inputs  []byte
	Waiting string // what it waits for
	Unread  bool   // it waits only for answers of the servers
	// Values identifies the values: equal ones on all nodes, without revealing them.
	Values string
	Err    error

	text string // of the template
}

// IsChange reports whether the result is another one than a recorded rendering. Different content of the same values, as
// of a timestamp, is no change.
func (r *Result) IsChange(last *Rendering) bool {
	return last == nil || digest(last.Salt, r.Inputs) != last.Inputs && digest(last.Salt, r.Content) != last.Output
}

// IsRenderingOf reports whether content is the recorded rendering of the same template.
func (r *Result) IsRenderingOf(last *Rendering, content []byte) bool {
	return last != nil && digest(last.Salt, []byte(r.text)) == last.Text && digest(last.Salt, content) == last.Output
}

// Record returns what the ledger holds of the result.
func (r *Result) Record(now time.Time) *Rendering {
	salt := rand.Text()
	return &Rendering{Salt: salt, Text: digest(salt, []byte(r.text)), Inputs: digest(salt, r.Inputs), Output: digest(salt, r.Content), At: now}
}

func digest(salt string, content []byte) string {
	h := hmac.New(sha256.New, []byte(salt))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// A Scope holds what a task's templates read besides values of the servers.
type Scope struct {
	Namespace, JobID string
	Env              func(name string) (string, bool)
	Read             func(file string) ([]byte, error)
}

// source is the Source of one rendering.
type source struct {
	*Watch
	scope Scope
}

func (s source) Value(d template.Dependency) template.Value {
	v, _ := s.Watch.Value(d)
	return v
}

func (s source) Env(name string) (string, bool) { return s.scope.Env(name) }

func (s source) File(name string) (string, error) {
	clean, ok := api.TemplatePath(name)
	if !ok {
		return "", fmt.Errorf("the path must be below the task's directory")
	}
	data, err := s.scope.Read(clean)
	return string(data), err
}

func (s source) Choose(all []template.ServiceInstance, n int, key string) []template.ServiceInstance {
	list := make([]*api.ServiceRegistration, len(all))
	byID := make(map[string]template.ServiceInstance, len(all))
	for i, x := range all {
		list[i], byID[x.ID] = &api.ServiceRegistration{ID: x.ID}, x
	}
	chosen := make([]template.ServiceInstance, 0, n)
	for _, r := range catalogentry.Choose(list, n, key) {
		chosen = append(chosen, byID[r.ID])
	}
	return chosen
}

// Render renders templates, and makes the watch keep the values that they need.
func Render(w *Watch, s Scope, all []*api.Template) []*Result {
	results := make([]*Result, len(all))
	var needs []template.Dependency
	for i, t := range all {
		r := &Result{Template: t}
		results[i] = r
		text := t.EmbeddedTmpl
		if t.SourcePath != "" {
			name, _ := api.TemplatePath(t.SourcePath)
			data, err := s.Read(name)
			if err != nil {
				r.Err = fmt.Errorf("read source %q: %w", t.SourcePath, err)
				continue
			}
			text = string(data)
		}
		r.text = text
		parsed, err := template.Parse(text, template.Options{Left: t.LeftDelim, Right: t.RightDelim, Strict: t.ErrMissingKey})
		if err != nil {
			r.Err = err
			continue
		}
		out, err := parsed.Render(source{w, s}, template.DefaultLimits)
		needs = append(needs, out.Needs...)
		switch {
		case err != nil:
			r.Err = err
		case len(out.Missing) > 0:
			r.Waiting = w.describe(s, out.Missing[0])
			r.Unread = !slices.ContainsFunc(out.Missing, func(m template.Missing) bool {
				return m.State == template.Absent || m.State == template.Forbidden
			})
		default:
			r.Content, r.Inputs, r.Values = out.Output, w.inputs(text, out.Needs), w.identify(t.DestPath, out.Needs)
		}
	}
	w.Need(needs)
	return results
}

// inputs returns everything on which a rendering depends that can change while the task runs.
func (x *Watch) inputs(text string, needs []template.Dependency) []byte {
	type input struct {
		Need  template.Dependency
		Value any
	}
	all := []any{text}
	for _, d := range needs {
		v, _ := x.Value(d)
		if d.Kind == template.Variable { // its indexes also change when the servers encrypt it again
			all = append(all, input{d, map[string]any{"state": v.State, "items": v.Items}})
			continue
		}
		all = append(all, input{d, v})
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return data
}

// identify returns what identifies the values of a template: a digest of their stamps, which every server
// derives from the state alone. A digest of the values themselves would let readers of allocations guess short secrets.
func (x *Watch) identify(destination string, needs []template.Dependency) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", destination)
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	for _, d := range needs {
		if k := x.known[d]; k != nil {
			fmt.Fprintf(h, "%q%q%q%q", d.Kind, d.Namespace, d.Name, k.stamp)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// BeingRead ends the text about a value that the servers have not sent yet.
const BeingRead = ", which is being read"

// describe says what a template waits for, and what to do.
func (x *Watch) describe(s Scope, m template.Missing) string {
	namespace := m.Namespace
	if namespace == "" {
		namespace = s.Namespace
	}
	_, reason := x.Value(m.Dependency)
	what := fmt.Sprintf("%s %q of namespace %q", m.Kind, m.Name, namespace)
	switch {
	case m.State == template.Forbidden:
		return fmt.Sprintf("%s: the task may not read it: %s; grant it with: reeve acl policy apply -namespace %s -job %s NAME FILE", what, reason, s.Namespace, s.JobID)
	case m.State == template.Absent && m.Kind == template.Variables:
		return fmt.Sprintf("a variable below %q in namespace %q; create one with: reeve var put -namespace %s %s/NAME KEY=VALUE", m.Name, namespace, namespace, m.Name)
	case m.State == template.Absent:
		return fmt.Sprintf("%s, which does not exist; create it with: reeve var put -namespace %s %s KEY=VALUE", what, namespace, m.Name)
	}
	if err := x.Away(); err != nil {
		return fmt.Sprintf("%s: the servers do not answer: %s", what, api.Printable(err.Error(), 200))
	}
	return what + BeingRead
}

// Strongest returns the strongest of the change modes.
func Strongest(changed []*Result) string {
	for _, mode := range []string{api.TemplateRestart, api.TemplateSignal, api.TemplateScript} {
		if slices.ContainsFunc(changed, func(r *Result) bool {
			return r.ChangeMode == mode || r.ChangeMode == api.TemplateRolling && mode == api.TemplateRestart
		}) {
			return mode
		}
	}
	return api.TemplateNoop
}
