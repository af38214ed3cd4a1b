// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/reeve-run/reeve/api"
)

// finishConfig reports unknown keys and invalid values of a known driver's config. The config
// of other drivers may hold anything.
func (d *decoder) finishConfig(t *api.Task, task *block) {
	known, ok := api.DriverConfigKeys(t.Driver)
	if !ok {
		return
	}
	at := configPlaces(task)
	unknown := false
	for _, name := range slices.Sorted(maps.Keys(at)) {
		if !slices.Contains(known, name) {
			d.addAt(at[name], "%s", unknownConfig(t.Driver, name, known))
			unknown = true
			continue
		}
		if problem := fixConfig(t.Driver, t.Config, name); problem != "" {
			d.addAt(at[name], "%s", problem)
		}
	}
	needed, article := "command", "a"
	if api.RunsImages(t.Driver) {
		needed, article = "image", "an"
	}
	// With an unknown key, the needed one is probably mistyped, not missing.
	if !unknown && slices.Contains(known, needed) && at[needed] == (hcl.Range{}) && task.body.Attributes["config"] == nil {
		d.addAt(task.kindRange, "%s needs %s %s: the driver %q takes config { %s = \"...\" }", task.title(), article, needed, t.Driver, needed)
	}
}

// configPlaces returns where each config key of a task is written.
func configPlaces(task *block) map[string]hcl.Range {
	at := map[string]hcl.Range{}
	for _, b := range task.body.Blocks {
		if b.Type != "config" {
			continue
		}
		for _, a := range b.Body.Attributes {
			at[a.Name] = a.NameRange
		}
		for _, nb := range b.Body.Blocks {
			if nb.Type == "dynamic" && len(nb.Labels) > 0 {
				at[nb.Labels[0]] = nb.LabelRanges[0]
				continue
			}
			at[nb.Type] = nb.TypeRange
		}
	}
	if a := task.body.Attributes["config"]; a != nil {
		pairs, _ := hcl.ExprMap(a.Expr)
		for _, p := range pairs {
			if name := hcl.ExprAsKeyword(p.Key); name != "" {
				at[name] = p.Key.Range()
			}
		}
	}
	return at
}

func unknownConfig(driver, name string, known []string) string {
	hint := didYouMean(name, known)
	if hint == "" {
		hint = "; it takes " + list(known, "and")
	}
	return fmt.Sprintf("the driver %q has no config key %q%s", driver, name, hint)
}

// fixConfig converts a config value to the driver's type if numbers or booleans only need to
// be written as text. Otherwise it returns the problem.
func fixConfig(driver string, config map[string]any, name string) string {
	v, ok := config[name]
	if !ok {
		return "" // its value was reported
	}
	problem := configValueProblem(driver, name, v)
	if problem == "" {
		return ""
	}
	if s := asText(v); configValueProblem(driver, name, s) == "" {
		config[name] = s
		return ""
	}
	return problem
}

func configValueProblem(driver, name string, v any) string {
	for _, p := range api.DriverConfigProblems(driver, map[string]any{name: v}) {
		if strings.HasPrefix(p, name+" ") {
			rule, _, isType := strings.Cut(strings.TrimPrefix(p, name), ", not ")
			if !isType || name == "ulimit" || name == "unveil" || name == "port_map" { // the problem describes the inner value
				return fmt.Sprintf("%q%s", name, strings.TrimPrefix(p, name))
			}
			return fmt.Sprintf("%q%s, not %s", name, rule, describePlain(v))
		}
	}
	return ""
}

// describePlain describes a JSON value for an error.
func describePlain(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the text %q", shorten(v))
	case float64:
		return fmt.Sprint("the number ", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return fmt.Sprint(v)
}

// asText converts scalars to text, also in lists.
func asText(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = asText(e)
		}
		return out
	case float64, bool:
		return fmt.Sprint(v)
	}
	return v
}
