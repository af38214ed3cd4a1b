// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// SchedulerConfig writes the scheduler configuration.
func SchedulerConfig(p *term.Page, s *api.SchedulerConfig) {
	rejections := "reported"
	if s.Rejections.MarkIneligible {
		rejections = "marked ineligible"
	}
	if s.Rejections.NodeThreshold == 0 || s.Rejections.NodeWindow == 0 {
		rejections = "off"
	} else {
		rejections = fmt.Sprintf("%s after %d rejections in %s", rejections, s.Rejections.NodeThreshold, human.Duration(s.Rejections.NodeWindow))
	}
	p.Fields(
		term.Field{"Algorithm", s.Algorithm},
		term.Field{"Spread over", orWord(s.ZoneAttribute, "nothing")},
		term.Field{"Maximum starting per node", orWord(unlessZero(s.MaxStartingPerNode), "no limit")},
		term.Field{"Memory oversubscription", onOff(s.MemoryOversubscriptionEnabled)},
		term.Field{"Preemption", preempting(s.Preemption)},
		term.Field{"Nodes that reject placements", rejections},
		term.Field{"Job registration", map[bool]string{false: "open", true: "rejected"}[s.RejectJobRegistration]},
		term.Field{"Evaluations", map[bool]string{false: "processed", true: "paused"}[s.PauseEvalBroker]},
		term.Field{"Modify index", strconv.FormatUint(s.ModifyIndex, 10)},
	)
}

// preempting lists the types of jobs that preempt.
func preempting(p api.PreemptionConfig) string {
	var types []string
	for _, t := range []string{api.JobTypeSystem, api.JobTypeSysBatch, api.JobTypeService, api.JobTypeBatch} {
		if p.Enabled(t) {
			types = append(types, t)
		}
	}
	return orWord(strings.Join(types, ", "), "off")
}
