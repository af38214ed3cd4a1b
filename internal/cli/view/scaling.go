// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func ScalingPolicies(p *term.Page, policies []*api.ScalingPolicyStub, wide bool) {
	if len(policies) == 0 {
		p.Line("No scaling policies: no job has a group with a scaling block.")
		return
	}
	var rows [][]string
	for _, s := range policies {
		id := s.ID
		if !wide {
			id = api.ShortID(id)
		}
		rows = append(rows, []string{id, s.Target["Job"], s.Target["Group"], s.Type, strconv.FormatBool(s.Enabled)})
	}
	p.Table([]string{"ID", "Job", "Group", "Type", "Enabled"}, rows)
}

func ScalingPolicy(p *term.Page, s *api.Scaling) {
	bound := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	p.Fields(
		term.Field{"ID", s.ID},
		term.Field{"Job", s.Target["Job"]},
		term.Field{"Group", s.Target["Group"]},
		term.Field{"Type", s.Type},
		term.Field{"Enabled", strconv.FormatBool(s.Stub().Enabled)},
		term.Field{"Min", bound(s.Min)},
		term.Field{"Max", bound(s.Max)},
	)
	if len(s.Policy) == 0 {
		return
	}
	p.Section("Policy")
	text, err := json.MarshalIndent(s.Policy, "", "  ")
	if err != nil {
		p.Line("%v", err)
		return
	}
	p.Line("%s", text)
}
