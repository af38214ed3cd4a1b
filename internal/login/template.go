// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// expand replaces ${NAME} in a text. A value is not expanded again: it comes from a user.
func expand(template string, variables map[string]string) (string, error) {
	var out strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("%q has a ${ without a }", template)
		}
		value, known := variables[strings.TrimSpace(name)]
		if !known {
			return "", fmt.Errorf("%q contains ${%s}; known are %s", template, name, strings.Join(slices.Sorted(maps.Keys(variables)), ", "))
		}
		out.WriteString(value)
		rest = tail
	}
}

// variables returns what a template may contain.
func (id *Identity) variables() map[string]string {
	all := map[string]string{}
	for name, value := range id.Value {
		all["value."+name] = value
	}
	return all
}

// longestName bounds the name of a token, in bytes.
const longestName = 256

// TokenName returns the name of the token of a user.
func TokenName(method *api.ACLAuthMethod, id *Identity) (string, error) {
	variables := id.variables()
	variables["auth_method_type"], variables["auth_method_name"] = method.Type, method.Name
	format := method.TokenNameFormat
	if format == "" {
		format = api.DefaultTokenNameFormat
	}
	name, err := expand(format, variables)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "TokenNameFormat: %v", err)
	}
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "")
	}
	return name, nil
}
