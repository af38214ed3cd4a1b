// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Callbacks writes a list of callbacks.
func Callbacks(p *term.Page, list []*api.Callback) {
	var rows [][]string
	for _, k := range list {
		state := "-"
		if k.Completion != nil {
			state = p.Style.Status(k.Completion.State)
		}
		url := "-"
		if k.Target != nil {
			url = k.Target.URL
		}
		rows = append(rows, []string{api.ShortID(k.ID), strconv.FormatUint(k.JobVersion, 10), state, callbackStatus(p, k),
			strconv.Itoa(k.Attempts), human.Dash(k.LastAnswer), url})
	}
	p.Table([]string{"ID", "Version", "Job ended", "Callback", "Attempts", "Last answer", "URL"}, rows)
}

// callbackStatus describes the progress of a callback, and its next attempt.
func callbackStatus(p *term.Page, k *api.Callback) string {
	switch k.Status {
	case api.CallbackPending:
		if wait := k.NextAttempt.Sub(p.Now); wait > 0 && k.Attempts > 0 {
			return p.Style.Yellow("pending, again in " + human.Duration(wait))
		}
		return p.Style.Yellow("pending")
	case api.CallbackDelivered:
		return p.Style.Green(k.Status) + " " + human.Age(p.Now, k.EndedAt)
	}
	return p.Style.Red(k.Status) + " " + human.Age(p.Now, k.EndedAt)
}
