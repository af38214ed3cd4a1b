// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// stackField names the stack that a request asks for: a version, the name of a stack, or a tag.
const stackField = "Reeve-Stack"

// tagSeparator separates a tag from the exposed host: canary--shop.example.com.
const tagSeparator = "--"

// isChainable reports whether the router passes a value of Reeve-Stack on to an instance that it did
// not choose by it: the name of a stack or a tag. A version would mean another stack to each
// unit of the chain.
func isChainable(value string) bool {
	if _, _, _, ok := api.ParseStackName(value); ok {
		return true
	}
	return api.ValidateTag(value) == nil
}

// A wish is the parsed value of Reeve-Stack.
type wish struct {
	stack   string // name of a stack
	unit    string // its unit
	tag     string
	version api.StackVersion // if neither is set
}

func parseWish(q *asked) (w wish, refused *refusal) {
	if q.stacks > 1 {
		return w, badWish(stackField + " occurs more than once")
	}
	if unit, _, _, ok := api.ParseStackName(q.stack); ok {
		return wish{stack: strings.Clone(q.stack), unit: strings.Clone(unit)}, nil
	}
	if v, err := api.ParseStackVersion(q.stack); err == nil {
		return wish{version: v}, nil
	}
	if api.ValidateTag(q.stack) == nil {
		return wish{tag: strings.Clone(q.stack)}, nil
	}
	return w, badWish(fmt.Sprintf("%s %q: must be a version such as 1.2.0, the name of a stack, or a tag", stackField, api.Printable(q.stack, 64)))
}

func badWish(why string) *refusal { return &refusal{status: http.StatusNotFound, why: why} }

func (w *wish) String() string {
	switch {
	case w.stack != "":
		return "name " + w.stack
	case w.tag != "":
		return "tag " + w.tag
	}
	return "version " + w.version.String()
}

// means reports whether the wish is for a stack.
func (w *wish) means(s *api.StackShare) bool {
	switch {
	case w.stack != "":
		return s.Stack == w.stack
	case w.tag != "":
		return slices.Contains(s.Tags, w.tag)
	}
	_, v, _, _ := api.ParseStackName(s.Stack)
	return v == w.version
}

// passed returns the field that the previewed instance receives, and passes on: a tag remains a tag for
// the other units of the chain, and everything else becomes the name of the stack.
func (w *wish) passed(stack string) string {
	if w.tag != "" {
		return w.tag
	}
	return stack
}

// choosePreview returns the pool of the stack that a request for a route asks for. The router obeys the
// field of trusted proxies, and that of all clients if the exposure is public.
func choosePreview(t *table, p *pool, q *asked) chosen {
	isPublic := func(s stackPool) bool { return s.preview == api.PreviewPublic }
	switch {
	case !q.trusted && !slices.ContainsFunc(p.stacks, isPublic):
		return chosen{pool: p}
	case !p.previews:
		c := chosen{pool: p}
		if q.stacks == 1 && isChainable(q.stack) {
			c.stack = q.stack
		}
		return c
	}
	w, refused := parseWish(q)
	if refused != nil {
		return chosen{refused: refused}
	}
	c := preview(t, p, &w, q)
	c.preview = c.pool != nil
	if c.refused != nil && q.trusted && p.isForOthers(t, &w) {
		return chosen{pool: p, stack: q.stack}
	}
	return c
}

// isForOthers reports whether a wish that no stack of the host fulfils is one for other units: units
// that the request reaches through the instance.
func (p *pool) isForOthers(t *table, w *wish) bool {
	if w.tag != "" {
		return t.tags[w.tag] > 0 && !slices.ContainsFunc(p.stacks, func(s stackPool) bool { return s.stack != nil && w.means(s.stack) })
	}
	return w.stack != "" && !slices.ContainsFunc(p.stacks, func(s stackPool) bool {
		_, stack := splitJob(s.job)
		unit, _, _, _ := api.ParseStackName(stack)
		return unit == w.unit
	})
}

// preview returns the pool of the stack of a host that fulfils a wish.
func preview(t *table, p *pool, w *wish, q *asked) chosen {
	refusal := fmt.Sprintf("no stack of host %q has the %s", p.key.host, w)
	var possible []string
	for _, s := range slices.Backward(p.stacks) {
		if s.stack == nil || s.preview == "" || !q.trusted && s.preview != api.PreviewPublic {
			if s.stack != nil && w.means(s.stack) {
				refusal = fmt.Sprintf("stack %s does not allow this preview: its expose block needs preview = true for requests of trusted proxies, or preview = \"public\"", s.stack.Stack)
			}
			continue
		}
		if !s.stack.IsReady() {
			if w.means(s.stack) {
				refusal = fmt.Sprintf("stack %s is %s: only ready stacks can be previewed", s.stack.Stack, s.stack.Status)
			}
			continue
		}
		if w.means(s.stack) {
			if of := t.get(keyOfStack(s.job, p.key.grpc)); of != nil {
				return chosen{pool: of, stack: w.passed(s.stack.Stack)}
			}
		}
		possible = append(possible, s.stack.Stack)
	}
	if len(possible) > 0 {
		refusal += "; these can be previewed: " + strings.Join(possible, ", ")
	}
	return chosen{refused: badWish(refusal)}
}

// chooseTagHost returns the pool of a host such as canary--shop.example.com. It reports false for
// a host without a tag, and for a request that may not preview.
func (r *Router) chooseTagHost(t *table, q *asked) (chosen, bool) {
	tag, host, ok := strings.Cut(q.host, tagSeparator)
	if !ok || api.ValidateTag(tag) != nil {
		return chosen{}, false
	}
	p := t.find(host, q.path, q.grpc)
	if p == nil || p.key.host != host || !p.previews {
		return chosen{}, false
	}
	if !q.trusted && !slices.ContainsFunc(p.stacks, func(s stackPool) bool { return s.preview == api.PreviewPublic }) {
		return chosen{}, false
	}
	return preview(t, p, &wish{tag: strings.Clone(tag)}, q), true
}

// previewNamed returns the pool of the stack that a request for a name of stacks asks for. It
// reports false if the field is about other units, or about a stack that cannot serve the
// name.
func previewNamed(t *table, q *asked, name lifecycle.Name, want api.FeatureVersion) (chosen, bool) {
	w, refused := parseWish(q)
	switch {
	case refused != nil:
		return chosen{refused: refused}, true
	case w.stack != "" && w.unit != name.Unit:
		return chosen{}, false
	}
	waits := false
	why := fmt.Sprintf("no stack of unit %s that serves %q has the %s", name.Unit, api.Printable(q.host, 200), &w)
	for namespace := range name.Namespaces {
		u := t.unit(lifecycle.Place{Unit: name.Unit, Namespace: namespace})
		if u == nil {
			continue
		}
		for _, s := range slices.Backward(u.roster.Stacks) {
			if !w.means(s) {
				continue
			}
			_, v, _, _ := api.ParseStackName(s.Stack)
			switch {
			case !v.Satisfies(want):
				why = fmt.Sprintf("stack %s does not satisfy version %s, which %q wants", s.Stack, want, api.Printable(q.host, 200))
			case !s.IsReady():
				waits = true
				why = fmt.Sprintf("stack %s is %s: only ready stacks can be previewed", s.Stack, s.Status)
			default:
				if p := t.get(keyOfStack(u.roster.Namespace+"/"+s.Stack, q.grpc)); p != nil {
					return chosen{pool: p, stack: w.passed(s.Stack), preview: true}, true
				}
				return chosen{refused: &refusal{status: http.StatusServiceUnavailable, why: fmt.Sprintf("stack %s has no instance that can take traffic", s.Stack)}}, true
			}
		}
	}
	if w.tag != "" && !waits {
		return chosen{}, false // the tag is for other units of the chain, or for other callers
	}
	return chosen{refused: badWish(why)}, true
}
