// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// namespaceChange is the change that the flags of "namespace apply" describe.
type namespaceChange struct {
	description string
	quota       string
	meta        map[string]string
	flags       *pflag.FlagSet
}

func namespaceApplyCommand(c *cli) *command {
	var change namespaceChange
	var asJSON bool
	return &command{
		use:   "apply NAMESPACE|FILE",
		short: "Create or change a namespace",
		long: `Create a namespace, or change the settings of the given flags. A file ("-" is
stdin) replaces the whole namespace. The file is HCL, or JSON with -json or a
name that ends in .json. An argument with a dot is a file, because names of
namespaces contain no dots. The parent of a nested namespace must exist.`,
		example: `reeve namespace apply dev
reeve namespace apply -description "for experiments" -meta team=web dev/sandbox
reeve namespace apply -quota web-team dev
reeve namespace apply dev.hcl`,
		flags: func(f *pflag.FlagSet) {
			change.flags = f
			f.StringVar(&change.description, "description", "", "set the description to `TEXT`")
			f.StringVar(&change.quota, "quota", "", "set the quota to that of the name `QUOTA`; an empty name removes it")
			f.StringToStringVar(&change.meta, "meta", nil, "set `KEY=VALUE`; an empty value removes the key; repeatable")
			f.BoolVar(&asJSON, "json", false, "read the file as JSON, like the HTTP API")
		},
		run: func(r *call) error {
			n, created, err := c.applyNamespace(r.ctx, r.cl, r.args[0], &change, asJSON)
			if err != nil {
				return err
			}
			verb := "Changed"
			if created {
				verb = "Created"
			}
			fmt.Fprintf(c.Stdout, "%s namespace %q.\n", verb, n.Name)
			return nil
		},
	}
}

// applyNamespace stores the namespace that a file or the flags describe, and reports
// whether it is new.
func (c *cli) applyNamespace(ctx context.Context, cl *client.Client, arg string, change *namespaceChange, asJSON bool) (n *api.Namespace, created bool, err error) {
	fromFile := arg == "-" || asJSON || strings.Contains(arg, ".")
	switch {
	case fromFile && change.isSet():
		return nil, false, usagef("-description, -quota and -meta change a namespace by its name; edit %s instead", arg)
	case fromFile:
		if n, err = readObject(c, "namespace", arg, asJSON || strings.HasSuffix(arg, ".json"), parseNamespace); err != nil {
			return nil, false, err
		}
	default:
		n = &api.Namespace{Name: arg}
	}
	if err := n.Validate(); err != nil {
		return nil, false, err
	}
	stored, _, err := cl.Namespaces().Get(ctx, n.Name, nil)
	if err != nil && api.CodeOf(err) != api.CodeNotFound {
		return nil, false, err
	}
	if fromFile {
		_, err = cl.Namespaces().Put(ctx, n)
		return n, stored == nil, err
	}
	index := uint64(0)
	if stored != nil {
		*n, index = *stored, stored.ModifyIndex
	}
	change.apply(n)
	_, err = cl.Namespaces().PutAt(ctx, n, index)
	return n, stored == nil, err
}

func (ch *namespaceChange) isSet() bool {
	return ch.flags.Changed("description") || ch.flags.Changed("quota") || ch.flags.Changed("meta")
}

func (ch *namespaceChange) apply(n *api.Namespace) {
	if ch.flags.Changed("description") {
		n.Description = ch.description
	}
	if ch.flags.Changed("quota") {
		n.Quota = ch.quota
	}
	if len(ch.meta) == 0 {
		return
	}
	n.Meta = maps.Clone(n.Meta)
	if n.Meta == nil {
		n.Meta = map[string]string{}
	}
	for key, value := range ch.meta {
		if value == "" {
			delete(n.Meta, key)
		} else {
			n.Meta[key] = value
		}
	}
}
