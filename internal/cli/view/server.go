// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Servers writes a list of servers.
func Servers(p *term.Page, list []*api.ServerStatus, now time.Time) {
	var rows [][]string
	for _, s := range list {
		certificate := "-"
		if s.Expires != 0 {
			certificate = human.Duration(time.Unix(0, s.Expires).Sub(now))
		}
		rows = append(rows, []string{
			api.ShortID(s.ID), cmp.Or(s.Name, "-"), s.Address, cmp.Or(s.Version, "-"), s.Status, serverRole(s), serverLag(s), strconv.FormatUint(s.Evaluations, 10), certificate,
		})
	}
	p.Table([]string{"ID", "Name", "Address", "Version", "Status", "Role", "Behind", "Evaluations", "Certificate"}, rows)
}

// serverRole describes the part of a server in elections.
func serverRole(s *api.ServerStatus) string {
	switch {
	case s.Status == api.ServerLeft:
		return "-"
	case s.Leader:
		return "leader"
	case s.Voter:
		return "voter"
	}
	return "new"
}

// serverLag describes how far a server is behind the leader.
func serverLag(s *api.ServerStatus) string {
	switch s.Status {
	case api.ServerAlive:
		return strconv.FormatUint(s.Trailing, 10)
	case api.ServerFailed:
		return "silent for " + human.Duration(s.LastContact)
	}
	return "-"
}
