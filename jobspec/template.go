// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var templateSchema = &schema[api.Template]{
	noun: "template",
	oneOf: map[string][]string{
		"change_mode": {"rolling", "restart", "signal", "script", "noop"},
	},
	attrs: attrs[api.Template]{
		"source":               func(t *api.Template) any { return &t.SourcePath },
		"destination":          func(t *api.Template) any { return &t.DestPath },
		"data":                 func(t *api.Template) any { return &t.EmbeddedTmpl },
		"change_mode":          func(t *api.Template) any { return &t.ChangeMode },
		"change_signal":        func(t *api.Template) any { return &t.ChangeSignal },
		"once":                 func(t *api.Template) any { return &t.Once },
		"splay":                func(t *api.Template) any { return &t.Splay },
		"perms":                func(t *api.Template) any { return &t.Perms },
		"uid":                  func(t *api.Template) any { return &t.UID },
		"gid":                  func(t *api.Template) any { return &t.GID },
		"left_delimiter":       func(t *api.Template) any { return &t.LeftDelim },
		"right_delimiter":      func(t *api.Template) any { return &t.RightDelim },
		"env":                  func(t *api.Template) any { return &t.Envvars },
		"vault_grace":          func(t *api.Template) any { return &t.VaultGrace },
		"error_on_missing_key": func(t *api.Template) any { return &t.ErrMissingKey },
	},
	blocks: blocks[api.Template]{
		"change_script": one(changeScriptSchema, func(t *api.Template) **api.ChangeScript { return &t.ChangeScript }),
		"wait":          one(waitSchema, func(t *api.Template) **api.TemplateWait { return &t.Wait }),
	},
}

var changeScriptSchema = &schema[api.ChangeScript]{
	noun:     "change_script",
	required: []string{"command"},
	attrs: attrs[api.ChangeScript]{
		"command":             func(c *api.ChangeScript) any { return &c.Command },
		"args":                func(c *api.ChangeScript) any { return &c.Args },
		"timeout":             func(c *api.ChangeScript) any { return &c.Timeout },
		"fail_on_error":       func(c *api.ChangeScript) any { return &c.FailOnError },
		"run_on_first_render": func(c *api.ChangeScript) any { return &c.RunOnFirstRender },
	},
}

var waitSchema = &schema[api.TemplateWait]{
	noun: "wait",
	attrs: attrs[api.TemplateWait]{
		"min": func(w *api.TemplateWait) any { return &w.Min },
		"max": func(w *api.TemplateWait) any { return &w.Max },
	},
}

var artifactSchema = &schema[api.Artifact]{
	noun: "artifact",
	oneOf: map[string][]string{
		"mode": {"any", "file", "dir"},
	},
	attrs: attrs[api.Artifact]{
		"source":      func(a *api.Artifact) any { return &a.Source },
		"mode":        func(a *api.Artifact) any { return &a.Mode },
		"insecure":    func(a *api.Artifact) any { return &a.Insecure },
		"destination": func(a *api.Artifact) any { return &a.Destination },
		"chown":       func(a *api.Artifact) any { return &a.Chown },
	},
	blocks: blocks[api.Artifact]{
		"options": texts(func(a *api.Artifact) *map[string]string { return &a.Options }),
		"headers": texts(func(a *api.Artifact) *map[string]string { return &a.Headers }),
	},
}
