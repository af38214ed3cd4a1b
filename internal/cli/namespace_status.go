// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func namespaceStatusCommand(c *cli) *command {
	return &command{
		use:     "status NAMESPACE",
		short:   "Show a namespace, its children and its jobs",
		example: "reeve namespace status dev/sandbox",
		format:  true,
		run:     func(r *call) error { return c.showNamespace(r.ctx, r.cl, r.args[0], r.format) },
	}
}

func (c *cli) showNamespace(ctx context.Context, cl *client.Client, name string, f format) error {
	s := &view.NamespaceStatus{}
	var err error
	if s.Namespace, _, err = cl.Namespaces().Get(ctx, name, nil); err != nil {
		return err
	}
	if !f.forPeople() {
		return c.show(f, s.Namespace, nil)
	}
	if s.Children, err = listAll(ctx, client.QueryOptions{Prefix: name + "/"}, cl.Namespaces().List); err != nil {
		return err
	}
	if s.Jobs, err = listAll(ctx, client.QueryOptions{}, cl.WithNamespace(name).Jobs().List); err != nil {
		return err
	}
	return c.show(f, s.Namespace, func(p *term.Page) { view.Namespace(p, s) })
}
