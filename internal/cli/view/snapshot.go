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

// Snapshot writes the description of a snapshot.
func Snapshot(p *term.Page, s *api.Snapshot) {
	p.Fields(
		term.Field{"Written", s.Time.Format(time.RFC3339)},
		term.Field{"By", cmp.Or(s.Server, "-") + ", Reeve " + cmp.Or(s.Version, "-")},
		term.Field{"Cluster", cmp.Or(s.ClusterID, "-")},
		term.Field{"Index", strconv.FormatUint(s.Index, 10)},
		term.Field{"Jobs", strconv.Itoa(s.Jobs)},
		term.Field{"Allocations", strconv.Itoa(s.Allocations)},
		term.Field{"Evaluations", strconv.Itoa(s.Evaluations)},
		term.Field{"Deployments", strconv.Itoa(s.Deployments)},
		term.Field{"Nodes", strconv.Itoa(s.Nodes)},
		term.Field{"State", human.Bytes(s.StateBytes)},
	)
}
