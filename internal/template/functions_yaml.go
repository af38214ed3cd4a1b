// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// maxYAML is the largest YAML that a template reads, in bytes.
const maxYAML = 64 << 10

var errYAML = errors.New("the text is not YAML")

// parseYAML reads YAML without anchors, aliases and tags.
func parseYAML(s string) (v any, err error) {
	if len(s) > maxYAML {
		return nil, fmt.Errorf("the YAML has more than %d bytes", maxYAML)
	}
	defer func() {
		if recover() != nil {
			v, err = nil, errYAML
		}
	}()
	flow, line, entries := 0, 0, 0
	for _, t := range lexer.Tokenize(s) {
		if t.Position != nil && t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MappingKeyType:
			return nil, errors.New("the YAML has an anchor, an alias, a tag or a complex key, which templates do not read")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			entries++
		}
		if flow > maxDepth/2 || entries > maxDepth/2 {
			return nil, errDeep
		}
	}
	if yaml.Unmarshal([]byte(s), &v) != nil {
		return nil, errYAML
	}
	return v, nil
}

// plain converts a value to maps, lists and scalars, as JSON has them. Numbers keep their form.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("the value cannot be written")
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, errors.New("the value cannot be written")
	}
	return out, nil
}

func toYAML(v any) (string, error) {
	v, err := plain(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	writeYAML(&b, v, 0, true)
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// writeYAML writes a value; begins reports whether the position is the beginning of a line.
func writeYAML(b *strings.Builder, v any, depth int, begins bool) {
	indent := strings.Repeat("  ", depth)
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}\n")
			return
		}
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 || begins {
				b.WriteString(indent)
			}
			b.WriteString(yamlText(key) + ":")
			writeYAMLBelow(b, v[key], depth)
		}
	case []any:
		if len(v) == 0 {
			b.WriteString("[]\n")
			return
		}
		for i, one := range v {
			if i > 0 || begins {
				b.WriteString(indent)
			}
			b.WriteString("- ")
			writeYAML(b, one, depth+1, false)
		}
	case string:
		b.WriteString(yamlText(v) + "\n")
	case nil:
		b.WriteString("null\n")
	default:
		fmt.Fprintf(b, "%v\n", v)
	}
}

// writeYAMLBelow writes the value of a key.
func writeYAMLBelow(b *strings.Builder, v any, depth int) {
	switch of := reflect.ValueOf(v); {
	case of.Kind() == reflect.Map && of.Len() > 0:
		b.WriteString("\n")
		writeYAML(b, v, depth+1, true)
	case of.Kind() == reflect.Slice && of.Len() > 0:
		b.WriteString("\n")
		writeYAML(b, v, depth, true)
	default:
		b.WriteString(" ")
		writeYAML(b, v, depth+1, false)
	}
}

var (
	plainYAML    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)
	reservedYAML = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)
)

// yamlText quotes a text unless every reader takes it for one.
func yamlText(s string) string {
	if plainYAML.MatchString(s) && !reservedYAML.MatchString(s) {
		return s
	}
	return quoteJSON(s)
}

func quoteJSON(s string) string {
	text, err := encodeJSON(s, "", false)
	if err != nil {
		return `""`
	}
	return text
}

func toTOML(v any) (string, error) {
	v, err := plain(v)
	if err != nil {
		return "", err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return "", errors.New("the value is not a map, which TOML needs")
	}
	var b strings.Builder
	if err := writeTOML(&b, m, nil); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// writeTOML writes a table: first its values, then the tables below it.
func writeTOML(b *strings.Builder, m map[string]any, path []string) error {
	names := slices.Sorted(maps.Keys(m))
	for _, name := range names {
		if _, isTable := m[name].(map[string]any); isTable || m[name] == nil {
			continue
		}
		text, err := tomlValue(m[name])
		if err != nil {
			return err
		}
		b.WriteString(tomlKey(name) + " = " + text + "\n")
	}
	for _, name := range names {
		table, isTable := m[name].(map[string]any)
		if !isTable {
			continue
		}
		below := append(slices.Clone(path), tomlKey(name))
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + strings.Join(below, ".") + "]\n")
		if err := writeTOML(b, table, below); err != nil {
			return err
		}
	}
	return nil
}

var plainTOML = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(s string) string {
	if plainTOML.MatchString(s) {
		return s
	}
	return quoteJSON(s)
}

func tomlValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return quoteJSON(v), nil
	case json.Number:
		if f, err := v.Float64(); err != nil || math.IsInf(f, 0) {
			return "", errRange
		}
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			text, err := tomlValue(one)
			if err != nil {
				return "", err
			}
			parts[i] = text
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := tomlValue(v[name])
			if err != nil {
				return "", err
			}
			parts = append(parts, tomlKey(name)+" = "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return "", errors.New("TOML cannot hold null")
}
