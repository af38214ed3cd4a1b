// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

var modelFieldCache sync.Map // reflect.Type -> map[string]int

// modelFields maps the folded JSON keys of a type to its fields.
func modelFields(t reflect.Type) map[string]int {
	if fields, ok := modelFieldCache.Load(t); ok {
		return fields.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if key := jsonKey(t.Field(i)); key != "" {
			fields[fold(key)] = i
		}
	}
	modelFieldCache.Store(t, fields)
	return fields
}

func jsonKey(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || name == "-":
		return ""
	case name != "":
		return name
	}
	return f.Name
}

// inHCL maps keys of HCL job files to their names in the API, for hints.
var inHCL = map[string][]string{
	"group": {"TaskGroups"}, "groups": {"TaskGroups"},
	"restart": {"RestartPolicy"}, "reschedule": {"ReschedulePolicy"}, "parameterized": {"ParameterizedJob"},
	"logs": {"LogConfig"}, "csi_plugin": {"CSIPluginConfig"}, "scaling": {"ScalingPolicies"},
	"attribute": {"LTarget"}, "value": {"RTarget"}, "operator": {"Operand"}, "target": {"SpreadTarget"},
	"memory": {"MemoryMB"}, "memory_max": {"MemoryMaxMB"}, "disk": {"DiskMB"}, "size": {"SizeMB"}, "max_file_size": {"MaxFileSizeMB"},
	"data": {"EmbeddedTmpl"}, "destination": {"DestPath", "RelativeDest"}, "source": {"SourcePath", "GetterSource"},
	"mode": {"GetterMode"}, "options": {"GetterOptions"}, "headers": {"GetterHeaders"},
	"env": {"Envvars"}, "left_delimiter": {"LeftDelim"}, "right_delimiter": {"RightDelim"}, "error_on_missing_key": {"ErrMissingKey"},
	"port": {"PortLabel", "DynamicPorts"}, "static": {"Value"}, "cron": {"Spec"}, "crons": {"Specs"}, "aud": {"Audience"}, "task": {"TaskName", "Tasks"},
}

// keyHint suggests a key of the type: in snake case if YAML is written so, and otherwise as in
// the API.
func keyHint(t reflect.Type, name string, asAPI bool) string {
	var keys []string
	for i := range t.NumField() {
		if key := jsonKey(t.Field(i)); key != "" {
			keys = append(keys, key)
		}
	}
	found := Nearest(name, keys)
	for _, key := range inHCL[snake(name)] {
		if slices.Contains(keys, key) {
			found = key
			break
		}
	}
	if found == "" {
		return ""
	}
	if !asAPI && name == strings.ToLower(name) {
		found = snake(found)
	}
	return "; did you mean " + quote(found) + "?"
}

// snake converts TaskGroups to task_groups and SizeMB to size_mb.
func snake(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// nodeTitle names an object in an error: task "web".
func nodeTitle(t reflect.Type, n *node) string {
	title := strings.ReplaceAll(snake(t.Name()), "_", " ")
	if title == "register job request" {
		title = "the request"
	}
	for _, want := range []string{"id", "name", "label"} {
		for _, f := range n.fields {
			if fold(f.name) == want && f.value.kind == textNode && f.value.text != "" {
				return title + " " + quote(shorten(f.value.text))
			}
		}
	}
	return title
}
