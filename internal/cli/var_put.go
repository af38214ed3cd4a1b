// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func varPutCommand(c *cli) *command {
	var file, lock string
	var cas uint64
	var merge bool
	return &command{
		use:   "put PATH [KEY=VALUE...]",
		short: "Store a variable",
		long: `Store a variable. It replaces the stored one; with -merge, keys that are not
given keep their values. A value "@FILE" is the content of the file, and "-"
that of standard input, whole in both cases: other users of this machine can see
arguments, so give secrets in this way. \@ begins a value with "@". -in reads
keys with values from a JSON object, such as {"user": "shop"}.`,
		example: `reeve var put shop/db user=shop password=@password.txt
pwgen 32 1 | tr -d '\n' | reeve var put -merge shop/db password=-
reeve var put -cas 0 -in settings.json shop/settings`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&file, "in", "", "read the items from the JSON object in `FILE`; \"-\" is stdin")
			f.Uint64Var(&cas, "cas", 0, "only if the stored variable has modify index `N`; 0: only if the variable does not exist")
			f.BoolVar(&merge, "merge", false, "keep the values of stored keys that are not given")
			f.StringVar(&lock, "lock", "", "`ID` of the lock that you hold")
		},
		check: func(r *call) error {
			if r.flags.Changed("in") == (len(r.args) > 1) && len(r.args) > 0 {
				return usagef("give either keys with values, such as user=shop, or -in FILE")
			}
			return nil
		},
		run: func(r *call) error {
			v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: r.args[0]}}
			var err error
			if v.Items, err = c.variableItems(file, r.args[1:]); err != nil {
				return err
			}
			if lock != "" {
				v.Lock = &api.VariableLock{ID: lock}
			}
			stored, err := putVariable(r, v, merge, cas)
			if err != nil {
				return err
			}
			return r.show(stored, func(p *term.Page) {
				p.Line("Stored variable %s with %s at modify index %d.", stored.VariableMetadata.String(), human.Count(len(stored.Items), "key", "keys"), stored.ModifyIndex)
			})
		},
	}
}

// putVariable stores a variable. A merge is repeated if somebody else writes meanwhile.
func putVariable(r *call, v *api.Variable, merge bool, cas uint64) (*api.Variable, error) {
	checks := r.flags.Changed("cas")
	if !merge {
		if err := v.Validate(); err != nil {
			return nil, err
		}
		if checks {
			return r.cl.Variables().PutAt(r.ctx, v, cas)
		}
		return r.cl.Variables().Put(r.ctx, v)
	}
	given := v.Items
	for attempt := 1; ; attempt++ {
		v.Items = map[string]string{}
		old, _, err := r.cl.Variables().Get(r.ctx, v.Path, nil)
		if err != nil && api.CodeOf(err) != api.CodeNotFound {
			return nil, err
		}
		index := uint64(0)
		if old != nil {
			maps.Copy(v.Items, old.Items)
			index = old.ModifyIndex
		}
		maps.Copy(v.Items, given)
		if err := v.Validate(); err != nil {
			return nil, err
		}
		if checks {
			index = cas
		}
		stored, err := r.cl.Variables().PutAt(r.ctx, v, index)
		if api.CodeOf(err) != api.CodeConflict || checks || attempt == mergeAttempts {
			return stored, err
		}
	}
}

// mergeAttempts is how often a merge meets another write.
const mergeAttempts = 5

// variableItems reads keys with values from a file or from arguments. No error repeats a value.
func (c *cli) variableItems(file string, args []string) (map[string]string, error) {
	items := map[string]string{}
	if file != "" {
		text, err := c.readAll(file, 8*api.MaxVariableBytes)
		if err != nil {
			return nil, err
		}
		if _, err := api.DecodeJSON(text, &items); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read %s: must be a JSON object of keys with texts as values: %v", file, err)
		}
		return items, nil
	}
	stdin := ""
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case !ok || key == "":
			return nil, usagef("an argument after PATH must be KEY=VALUE")
		case value == "-" && stdin != "":
			return nil, usagef("%s=- and %s=-: standard input is one value", stdin, key)
		}
		if _, twice := items[key]; twice {
			return nil, usagef("key %q is given twice", key)
		}
		from, isFile := strings.CutPrefix(value, "@")
		switch {
		case value == "-":
			stdin = key
			from, isFile = "-", true
		case strings.HasPrefix(value, "\\@"):
			value = value[1:]
		}
		if isFile {
			text, err := c.readAll(from, api.MaxVariableBytes)
			if err != nil {
				return nil, err
			}
			value = string(text)
		}
		items[key] = value
	}
	return items, nil
}
