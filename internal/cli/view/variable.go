// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Variables writes a list of variables.
func Variables(p *term.Page, list []*api.VariableMetadata) {
	var rows [][]string
	for _, v := range list {
		rows = append(rows, []string{v.Namespace, v.Path, human.Age(p.Now, time.Unix(0, v.ModifyTime)), lockState(v)})
	}
	p.Table([]string{"Namespace", "Path", "Modified", "Lock"}, rows)
}

func lockState(v *api.VariableMetadata) string {
	if v.Lock == nil {
		return "-"
	}
	return "held, " + v.Lock.TTL
}

// Variable writes one variable with its items.
func Variable(p *term.Page, v *api.Variable) {
	p.Fields(
		term.Field{"Namespace", v.Namespace},
		term.Field{"Path", v.Path},
		term.Field{"Created", human.Age(p.Now, time.Unix(0, v.CreateTime))},
		term.Field{"Modified", human.Age(p.Now, time.Unix(0, v.ModifyTime))},
		term.Field{"Lock", lockState(&v.VariableMetadata)},
		term.Field{"Modify index", strconv.FormatUint(v.ModifyIndex, 10)})
	p.Section("Items")
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(v.Items)) {
		rows = append(rows, []string{key, oneLine(v.Items[key])})
	}
	p.Table([]string{"Key", "Value"}, rows)
}

// oneLine returns a value as one line of printable text: quoted if it has other characters.
func oneLine(value string) string {
	if strings.ContainsFunc(value, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return strconv.Quote(value)
	}
	return value
}

// RootKeys writes a list of root keys.
func RootKeys(p *term.Page, list []*api.RootKey) {
	var rows [][]string
	for _, k := range list {
		rows = append(rows, []string{api.ShortID(k.KeyID), k.State, human.Age(p.Now, time.Unix(0, k.CreateTime)), strconv.Itoa(k.Variables), human.Dash(k.Recovery), human.Dash(k.Problem)})
	}
	p.Table([]string{"ID", "State", "Created", "Variables", "Recovery key", "Problem"}, rows)
}
