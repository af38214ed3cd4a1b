// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// ParseEnv reads a rendered file of environment variables: lines KEY=value, comments after #, and
// values without quotes, in single quotes, or as JSON strings. Errors name lines, never values.
func ParseEnv(text []byte) (map[string]string, error) {
	vars := map[string]string{}
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimPrefix(line, "export ")
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, &Error{n, "the line has no ="}
		case !envName.MatchString(key):
			return nil, &Error{n, "the name before = has other characters than letters, digits, \"_\", \".\" and \"-\""}
		}
		value, err := envValue(value)
		if err != nil {
			return nil, &Error{n, fmt.Sprintf("the value of %s %s", key, err)}
		}
		if strings.ContainsRune(value, 0) {
			return nil, &Error{n, fmt.Sprintf("the value of %s contains a zero byte", key)}
		}
		vars[key] = value
	}
	return vars, nil
}

type envError string

func (e envError) Error() string { return string(e) }

// envValue removes quotes, and a comment after a quoted value.
func envValue(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	switch s[0] {
	case '"':
		d := json.NewDecoder(strings.NewReader(s))
		var value string
		if err := d.Decode(&value); err != nil {
			return "", envError("is not a JSON string; write it with toJSON")
		}
		return value, commentOnly(s[d.InputOffset():])
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 {
			return "", envError("has no closing quote")
		}
		return s[1 : end+1], commentOnly(s[end+2:])
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return s, nil
}

func commentOnly(s string) error {
	if s = strings.TrimSpace(s); s != "" && s[0] != '#' {
		return envError("continues after its closing quote")
	}
	return nil
}
