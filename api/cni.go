// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cniMode is the beginning of the modes of CNI networks.
const cniMode = "cni/"

// Prefixes of the attributes of nodes that describe CNI networks. The first one is followed by the
// name of a usable network. The second one is followed by the name of a network that cannot be used, or
// of a file that cannot be read, and its value says why. The third one is followed by the name of a plugin.
const (
	NodeAttrCNI        = "network.cni."
	NodeAttrCNIProblem = "network.cni_problem."
	NodeAttrCNIPlugin  = "plugins.cni.version."
)

// CNIName returns the name of the CNI network of a mode "cni/NAME"; "" for other modes.
func CNIName(mode string) string {
	name, ok := strings.CutPrefix(mode, cniMode)
	if !ok {
		return ""
	}
	return name
}

// IsCNI reports whether a mode is that of a CNI network.
func IsCNI(mode string) bool { return strings.HasPrefix(mode, cniMode) }

const cniNameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// IsCNIName reports whether s can be the name of a CNI network. It is no path.
func IsCNIName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && s[0] != '_' && s[0] != '.' && strings.Trim(s, cniNameChars) == ""
}

// Bounds of the arguments of a CNI network.
const (
	maxCNIArgs  = 64
	maxCNIValue = 512
)

// Problems returns the errors of the arguments. Plugins read them as one text of pairs KEY=VALUE with ";"
// between them, so a value must not look like another pair. nil has no problems.
func (c *CNI) Problems() (problems []string) {
	if c == nil {
		return nil
	}
	if len(c.Args) > maxCNIArgs {
		problems = append(problems, fmt.Sprintf("args has %d entries: at most %d are possible", len(c.Args), maxCNIArgs))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Args)) {
		value := c.Args[key]
		switch {
		case !IsCNIName(key):
			problems = append(problems, fmt.Sprintf("args: the key %q: must be 1 to 64 letters, digits, -, _ and ., and begin with a letter or a digit", Printable(key, 64)))
		case key == "IgnoreUnknown":
			problems = append(problems, "args: the key IgnoreUnknown is set by the agent: remove it")
		case len(value) > maxCNIValue:
			problems = append(problems, fmt.Sprintf("args: the value of %s has %d bytes: at most %d are possible", key, len(value), maxCNIValue))
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' || r == ';' || r == '=' }):
			problems = append(problems, fmt.Sprintf("args: the value of %s, %q: must be printable ASCII without \";\" and \"=\"", key, Printable(value, 100)))
		}
	}
	return problems
}

// Replace returns the arguments with the variables in their values replaced.
func (c *CNI) Replace(replace func(string) string) map[string]string {
	if c == nil {
		return nil
	}
	args := map[string]string{}
	for key, value := range c.Args {
		args[key] = replace(value)
	}
	return args
}

func (n *Network) validateCNI(c *complaints, at string) {
	if IsCNI(n.Mode) && !IsCNIName(CNIName(n.Mode)) {
		c.add("%s: mode = %q: the name after cni/ must be 1 to 64 letters, digits, -, _ and ., and begin with a letter or a digit", at, Printable(n.Mode, 100))
	}
	for _, problem := range n.CNI.Problems() {
		c.add("%s, cni: %s", at, problem)
	}
}
