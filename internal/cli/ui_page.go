// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/uilink"
)

// uiObjects are the nouns whose objects have a page, with the name of their argument.
var uiObjects = map[string]string{"job": "JOB", "node": "NODE", "alloc": "ALLOC"}

// uiPages completes the first argument of "reeve ui".
func uiPages(_ *call, prefix string) ([]string, error) {
	pages := append(uilink.Lists(), "job", "node", "alloc")
	return slices.DeleteFunc(pages, func(name string) bool { return !strings.HasPrefix(name, prefix) }), nil
}

// uiPage returns the page that the arguments name.
func (r *call) uiPage() (string, error) {
	name, object := r.arg(0), r.arg(1)
	if noun, ok := uiObjects[name]; ok {
		if object == "" {
			return "", usagef("missing argument %s: reeve ui %s %s", noun, name, noun)
		}
		return r.uiObject(name, object)
	}
	if object != "" {
		return "", usagef("unexpected argument %q: only job, node and alloc have pages of objects", object)
	}
	if name == "" {
		return uilink.Root, nil
	}
	page, ok := uilink.List(name)
	if !ok {
		return "", usagef("the web UI has no page %q; it has %s, and \"job NAME\", \"node ID\" and \"alloc ID\"", name, strings.Join(uilink.Lists(), ", "))
	}
	if ns := r.namespace(); ns != "" && ns != api.DefaultNamespace {
		page += "?namespace=" + url.QueryEscape(ns)
	}
	return page, nil
}

// uiObject returns the page of an object that exists.
func (r *call) uiObject(noun, text string) (string, error) {
	switch noun {
	case "job":
		id, err := r.jobArgument(text)
		if err != nil {
			return "", err
		}
		return uilink.Job(id, r.cl.Namespace()), nil
	case "node":
		id, err := r.nodeArgument(text)
		return uilink.Node(id), err
	}
	id, err := r.allocationArgument(text)
	return uilink.Allocation(id), err
}

// uiHintTimeout bounds the wait for an agent that says whether it serves the web UI.
const uiHintTimeout = time.Second

// sayUI prints where the web UI shows a job, if the agent serves one.
func (c *cli) sayUI(ctx context.Context, cl *client.Client, job string) {
	ctx, cancel := context.WithTimeout(ctx, uiHintTimeout)
	defer cancel()
	if served, err := cl.UI().IsServed(ctx); err != nil || !served {
		return
	}
	if c.needsProxy(cl) {
		fmt.Fprintf(c.Stderr, "Web UI: reeve ui job %s\n", view.JobArgs(cl.Namespace(), job))
		return
	}
	fmt.Fprintf(c.Stderr, "Web UI: %s%s\n", cl.Address(), uilink.Job(job, cl.Namespace()))
}
