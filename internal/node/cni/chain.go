// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Runtime is what plugins learn about a container.
type Runtime struct {
	Paths     []string // directories of plugins
	Container string   // its id
	Namespace string   // path of its network namespace; "": it has ended
	Interface string
	Args      map[string]string
	Ports     []PortMapping
	Patience  time.Duration // for each plugin; 0: DefaultPatience
}

// A PortMapping is a port of the machine that leads to one of the container.
type PortMapping struct {
	HostPort      uint16 `json:"hostPort"`
	ContainerPort uint16 `json:"containerPort"`
	Protocol      string `json:"protocol"`
	HostIP        string `json:"hostIP,omitempty"`
}

// Variables by which plugins, and what they start, are known.
const (
	commandVariable   = "CNI_COMMAND="
	containerVariable = "CNI_CONTAINERID="
)

// Add calls the plugins in order, and returns the result of the last one. After an error the caller
// has to call Delete: some plugins may have succeeded.
func (n *Network) Add(ctx context.Context, r Runtime) (*Result, error) {
	var last json.RawMessage
	for i := range n.Plugins {
		out, err := n.call(ctx, "ADD", i, r, last)
		if err != nil {
			return nil, err
		}
		if _, err := ParseResult(out, r.Namespace); err != nil {
			return nil, n.wrap("ADD", i, err)
		}
		last = out
	}
	return ParseResult(last, r.Namespace)
}

// Delete calls the plugins in reverse order, and stops at the first error: an address must not be
// free while rules for it may remain. It may be repeated. previous is the result of Add, nil if it is not known.
func (n *Network) Delete(ctx context.Context, r Runtime, previous json.RawMessage) error {
	if !atLeast(n.Version, "0.4.0") {
		previous = nil
	}
	for i := range slices.Backward(n.Plugins) {
		if _, err := n.call(ctx, "DEL", i, r, previous); err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) call(ctx context.Context, command string, i int, r Runtime, previous json.RawMessage) ([]byte, error) {
	config, p, err := n.configOf(i, r, previous)
	if err != nil {
		return nil, n.wrap(command, i, err)
	}
	path := Locate(r.Paths, p.Type)
	if path == "" {
		return nil, n.Missing(r.Paths)
	}
	args, err := encodeArgs(r.Args)
	if err != nil {
		return nil, n.wrap(command, i, err)
	}
	out, err := call(ctx, path, r.Container, []string{
		commandVariable + command, containerVariable + r.Container, "CNI_NETNS=" + r.Namespace, "CNI_IFNAME=" + r.Interface,
		"CNI_PATH=" + strings.Join(r.Paths, ":"), "CNI_ARGS=" + args,
	}, config, r.Patience)
	if err != nil {
		return nil, n.wrap(command, i, err)
	}
	return out, nil
}

func (n *Network) wrap(command string, i int, err error) error {
	p, _ := plugin(n.Plugins[i])
	return fmt.Errorf("CNI network %s: %s by plugin %s (%s): %w", n.Name, command, api.Printable(p.Type, 64), n.File, err)
}

// configOf returns what a plugin reads: its own configuration, completed with the network's name and
// version, the previous result, and what the plugin can do at run time.
func (n *Network) configOf(i int, r Runtime, previous json.RawMessage) ([]byte, pluginConfig, error) {
	p, err := plugin(n.Plugins[i])
	if err != nil {
		return nil, p, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(n.Plugins[i], &fields); err != nil {
		return nil, p, err
	}
	for _, key := range []string{"capabilities", "runtimeConfig", "prevResult", "cniVersions", "plugins"} {
		delete(fields, key)
	}
	set := func(key string, value any) {
		text, marshalErr := json.Marshal(value)
		fields[key], err = text, errors.Join(err, marshalErr)
	}
	set("name", n.Name)
	set("cniVersion", n.Version)
	if previous != nil && atLeast(n.Version, "0.3.0") {
		set("prevResult", previous)
	}
	if p.Capabilities["portMappings"] && len(r.Ports) > 0 {
		set("runtimeConfig", map[string]any{"portMappings": r.Ports})
	}
	if err != nil {
		return nil, p, err
	}
	text, err := json.Marshal(fields)
	return text, p, err
}

// ignoreUnknown lets plugins accept arguments of others.
const ignoreUnknown = "IgnoreUnknown=1"

// encodeArgs returns the text of CNI_ARGS. An argument that could be read as two is an error.
func encodeArgs(args map[string]string) (string, error) {
	pairs := []string{ignoreUnknown}
	if problems := (&api.CNI{Args: args}).Problems(); len(problems) > 0 {
		return "", errors.New(strings.Join(problems, "; "))
	}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		pairs = append(pairs, key+"="+args[key])
	}
	return strings.Join(pairs, ";"), nil
}
