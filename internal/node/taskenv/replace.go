// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import (
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Replace replaces every ${NAME} in s by its value: a variable of the environment, also
// written ${env["NAME"]}, or ${attr.X}, ${meta.X} and ${node.X} of the node. It leaves
// unknown names unchanged, because they may be meant for a shell.
func (e *Env) Replace(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.Index(s, "${")
		if open < 0 {
			break
		}
		shut := strings.IndexByte(s[open:], '}')
		if shut < 0 {
			break
		}
		shut += open
		b.WriteString(s[:open])
		if v, ok := e.lookup(strings.TrimSpace(s[open+2 : shut])); ok {
			b.WriteString(v)
		} else {
			b.WriteString(s[open : shut+1])
		}
		s = s[shut+1:]
	}
	b.WriteString(s)
	return b.String()
}

func (e *Env) lookup(name string) (string, bool) {
	if inner, ok := strings.CutPrefix(name, `env["`); ok {
		if inner, ok = strings.CutSuffix(inner, `"]`); ok {
			v := e.vars[inner] // an unset variable is empty, as in a shell
			return v, true
		}
	}
	if v, ok := e.vars[name]; ok {
		return v, true
	}
	v, ok := e.scope[name]
	if !ok && (strings.HasPrefix(name, "NOMAD_META_") || strings.HasPrefix(name, "REEVE_META_")) {
		v, ok = e.vars[cleanName(name)]
	}
	return v, ok
}

// ReplaceAny returns a copy of a value from a job file with variables replaced in all its
// strings.
func (e *Env) ReplaceAny(v any) any {
	switch v := v.(type) {
	case string:
		return e.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = e.ReplaceAny(x)
		}
		return out
	case []string:
		return e.replaceAll(v)
	case map[string]any:
		return e.ReplaceConfig(v)
	case []map[string]any:
		out := make([]map[string]any, len(v))
		for i, x := range v {
			out[i] = e.ReplaceConfig(x)
		}
		return out
	}
	return v
}

// ReplaceConfig replaces variables in a driver's config.
func (e *Env) ReplaceConfig(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, x := range m {
		out[e.Replace(k)] = e.ReplaceAny(x)
	}
	return out
}

func (e *Env) replaceAll(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = e.Replace(s)
	}
	return out
}

// ReplaceService returns a copy of a service with all variables replaced.
func (e *Env) ReplaceService(s *api.Service) *api.Service {
	c := *s
	c.Name = e.replaceName(c.Name)
	c.Tags = e.replaceAll(s.Tags)
	c.CanaryTags = e.replaceAll(s.CanaryTags)
	c.PortLabel = e.Replace(s.PortLabel)
	c.Address = e.Replace(s.Address)
	c.Meta = e.replaceMap(s.Meta)
	c.CanaryMeta = e.replaceMap(s.CanaryMeta)
	c.TaggedAddresses = e.replaceMap(s.TaggedAddresses)
	c.Checks = make([]*api.Check, len(s.Checks))
	for i, k := range s.Checks {
		c.Checks[i] = e.replaceCheck(k)
	}
	return &c
}

// replaceName leaves the task out of the default name of a group's service.
func (e *Env) replaceName(name string) string {
	if e.scope["TASK"] == "" {
		name = strings.ReplaceAll(name, "-${TASK}", "")
	}
	return e.Replace(name)
}

// ReplaceMonitor returns a monitor's check with all variables replaced.
func (e *Env) ReplaceMonitor(m *api.Monitor) *api.Check { return e.replaceCheck(m.Check()) }

func (e *Env) replaceCheck(k *api.Check) *api.Check {
	c := *k
	c.Name = e.replaceName(c.Name)
	c.Type = e.Replace(k.Type)
	c.Command = e.Replace(k.Command)
	c.Args = e.replaceAll(k.Args)
	c.Path = e.Replace(k.Path)
	c.Protocol = e.Replace(k.Protocol)
	c.PortLabel = e.Replace(k.PortLabel)
	c.InitialStatus = e.Replace(k.InitialStatus)
	c.Method = e.Replace(k.Method)
	c.Body = e.Replace(k.Body)
	c.GRPCService = e.Replace(k.GRPCService)
	c.TLSServerName = e.Replace(k.TLSServerName)
	c.TaskName = e.Replace(k.TaskName)
	if k.Header != nil {
		c.Header = make(map[string][]string, len(k.Header))
		for name, values := range k.Header {
			c.Header[e.Replace(name)] = e.replaceAll(values)
		}
	}
	return &c
}

func (e *Env) replaceMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[e.Replace(k)] = e.Replace(v)
	}
	return out
}
