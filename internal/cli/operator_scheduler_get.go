// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func operatorSchedulerGetCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "get-config",
		Short: "Show how the cluster schedules",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			res, _, err := cl.Operator().SchedulerConfig(cmd.Context(), nil)
			if err != nil {
				return err
			}
			return c.show(f, res, func(p *page) { p.schedulerConfig(res.SchedulerConfig) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// schedulerConfig writes how the cluster schedules.
func (p *page) schedulerConfig(s *api.SchedulerConfig) {
	rejections := "reported"
	if s.Rejections.MarkIneligible {
		rejections = "made ineligible"
	}
	if s.Rejections.NodeThreshold == 0 || s.Rejections.NodeWindow == 0 {
		rejections = "off"
	} else {
		rejections = fmt.Sprintf("%s after %d refusals in %s", rejections, s.Rejections.NodeThreshold, shortDuration(s.Rejections.NodeWindow))
	}
	p.fields(
		field{"Algorithm", s.Algorithm},
		field{"Even spread over", orWord(s.ZoneAttribute, "nothing")},
		field{"Starting per node", orWord(unlessZero(s.MaxStartingPerNode), "no bound")},
		field{"Memory oversubscription", onOff(s.MemoryOversubscriptionEnabled)},
		field{"Preemption", preempting(s.Preemption)},
		field{"Nodes that keep refusing", rejections},
		field{"Job registration", map[bool]string{false: "open", true: "rejected"}[s.RejectJobRegistration]},
		field{"Evaluations", map[bool]string{false: "worked out", true: "paused"}[s.PauseEvalBroker]},
		field{"Modify index", strconv.FormatUint(s.ModifyIndex, 10)},
	)
}

// preempting lists the types of job that preempt.
func preempting(p api.PreemptionConfig) string {
	var types []string
	for _, t := range []string{api.JobTypeSystem, api.JobTypeSysBatch, api.JobTypeService, api.JobTypeBatch} {
		if p.Enabled(t) {
			types = append(types, t)
		}
	}
	return orWord(strings.Join(types, ", "), "off")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// orWord is s, or the word when there is nothing to say.
func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
