// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mitchellh/pointerstructure"

	"github.com/reeve-run/reeve/api"
)

// An Identity holds the claims of a user that the auth method maps. Every mapped name exists; without
// its claim it is empty.
type Identity struct {
	Value map[string]string
	List  map[string][]string
}

// identify maps claims to names.
func identify(config *api.ACLAuthMethodConfig, found claims) (*Identity, error) {
	id := &Identity{Value: map[string]string{}, List: map[string][]string{}}
	for claim, name := range config.ClaimMappings {
		value, ok := text(found.lookup(claim))
		if !ok {
			return nil, refuse("its claim %.100q is not a text, a number or true or false", claim)
		}
		id.Value[name] = value
	}
	for claim, name := range config.ListClaimMappings {
		values, ok := listOf(found.lookup(claim))
		if !ok {
			return nil, refuse("its claim %.100q is not a list of texts", claim)
		}
		id.List[name] = values
	}
	return id, nil
}

// lookup returns a claim by its name or, if it begins with a slash, by its JSON pointer; nil if the token does not
// have it.
func (c claims) lookup(claim string) any {
	if value, ok := c[claim]; ok || !strings.HasPrefix(claim, "/") {
		return value
	}
	value, err := pointerstructure.Get(map[string]any(c), claim)
	if err != nil {
		return nil
	}
	return value
}

func text(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// listOf returns a list of texts; a single text is a list of one.
func listOf(value any) ([]string, bool) {
	values, ok := value.([]any)
	if !ok {
		if value == nil {
			return []string{}, true
		}
		values = []any{value}
	}
	all := []string{}
	for _, v := range values {
		t, ok := text(v)
		if !ok {
			return nil, false
		}
		all = append(all, t)
	}
	return all, true
}

// blank returns the identity of a user without any claim, to check selectors and templates with.
func blank(config *api.ACLAuthMethodConfig) *Identity {
	id, _ := identify(config, claims{})
	return id
}
