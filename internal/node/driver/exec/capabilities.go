// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// capabilities returns the capabilities of root in the task, after the config's cap_add and
// cap_drop. Other users receive those that cap_add names.
func capabilities(t *driver.Task) (root, ambient []string, err error) {
	add, err := t.ConfigStrings("cap_add")
	if err != nil {
		return nil, nil, err
	}
	drop, err := t.ConfigStrings("cap_drop")
	if err != nil {
		return nil, nil, err
	}
	root = isolate.DefaultCapabilities()
	if hasAll(drop) {
		root, drop = nil, nil
	}
	if hasAll(add) {
		root, add = isolate.AllCapabilities(), nil
	}
	for _, name := range add {
		c, err := isolate.CapabilityName(name)
		if err != nil {
			return nil, nil, err
		}
		root, ambient = append(root, c), append(ambient, c)
	}
	for _, name := range drop {
		c, err := isolate.CapabilityName(name)
		if err != nil {
			return nil, nil, err
		}
		is := func(other string) bool { return other == c }
		root, ambient = slices.DeleteFunc(root, is), slices.DeleteFunc(ambient, is)
	}
	return root, ambient, nil
}

func hasAll(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, "all") })
}
