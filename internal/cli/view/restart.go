// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// RestartNext suggests the next commands for a restart.
func RestartNext(r *api.JobRestart) []string {
	id := api.ShortID(r.ID)
	switch r.Status {
	case api.RestartRunning:
		return []string{"Follow it:  reeve job restart -attach " + id, "Pause it:   reeve job restart -pause " + id, "Cancel it:  reeve job restart -cancel " + id}
	case api.RestartPaused:
		return []string{"Resume it:  reeve job restart -resume " + id, "Cancel it:  reeve job restart -cancel " + id}
	}
	return nil
}

// Restarts writes a list of restarts.
func Restarts(p *term.Page, job string, list []*api.JobRestart) {
	if len(list) == 0 {
		p.Line("No recent restarts of job %q.", job)
		p.Next("Restart it:  reeve job restart " + human.ShellQuote(job))
		return
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{api.ShortID(r.ID), restartStatus(p, r.Status), strconv.Itoa(len(r.RestartedAllocs)),
			alarming(p, len(r.UnhealthyAllocs)), strconv.Itoa(r.BatchSize), human.Dash(r.By), human.Age(p.Now, r.StartedAt), human.Dash(cmp.Or(r.StatusDescription, r.Reason))})
	}
	p.Table([]string{"ID", "Status", "Restarted", "Unhealthy", "Batch", "By", "Started", "Description"}, rows)
	for _, r := range list {
		if r.IsActive() {
			p.Next(RestartNext(r)...)
			return
		}
	}
}

// restartStatus colours a status. A running restart has its own colour, because it is
// not complete.
func restartStatus(p *term.Page, status string) string {
	switch status {
	case api.RestartComplete:
		return p.Style.Green(status)
	case api.RestartFailed:
		return p.Style.Red(status)
	case api.RestartPaused:
		return p.Style.Yellow(status)
	}
	return p.Style.Cyan(status)
}
