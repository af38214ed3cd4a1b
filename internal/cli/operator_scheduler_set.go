// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func operatorSchedulerSetCommand(c *cli) *command {
	var set api.SchedulerConfig // what the flags say
	var index uint64
	return &command{
		use:   "set-config",
		short: "Change how the cluster schedules",
		long: `Changes the settings whose flags are given; the others stay as they are. The
change holds at once, for what is placed from now on. If somebody else changes
the configuration at the same moment, nothing is changed.`,
		example: "reeve operator scheduler set-config -preempt-service-scheduler=true\nreeve operator scheduler set-config -scheduler-algorithm spread -check-index 42",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&set.Algorithm, "scheduler-algorithm", "", "`ALGORITHM`: binpack fills nodes so that others stay free, spread uses them evenly")
			f.BoolVar(&set.Preemption.SystemSchedulerEnabled, "preempt-system-scheduler", false, "system jobs preempt allocations of lower priority")
			f.BoolVar(&set.Preemption.SysBatchSchedulerEnabled, "preempt-sysbatch-scheduler", false, "sysbatch jobs preempt")
			f.BoolVar(&set.Preemption.ServiceSchedulerEnabled, "preempt-service-scheduler", false, "services preempt")
			f.BoolVar(&set.Preemption.BatchSchedulerEnabled, "preempt-batch-scheduler", false, "batch jobs preempt")
			f.BoolVar(&set.MemoryOversubscriptionEnabled, "memory-oversubscription", false, "tasks may use up to their memory_max")
			f.BoolVar(&set.RejectJobRegistration, "reject-job-registration", false, "no jobs are registered, scaled or reverted")
			f.BoolVar(&set.PauseEvalBroker, "pause-eval-broker", false, "evaluations are kept and not worked out")
			f.StringVar(&set.ZoneAttribute, "zone-attribute", "", "`ATTRIBUTE` over which services without spread of their own are spread, as in '${meta.zone}'; \"\" is none")
			f.IntVar(&set.MaxStartingPerNode, "max-starting-per-node", 0, "`COUNT` of allocations that may be starting on a node at once; 0 is no bound")
			f.BoolVar(&set.Rejections.MarkIneligible, "rejections-mark-ineligible", false, "nodes that keep refusing placements become ineligible")
			f.IntVar(&set.Rejections.NodeThreshold, "rejections-threshold", 0, "`COUNT` of refusals that are too many; 0 counts none")
			f.DurationVar(&set.Rejections.NodeWindow, "rejections-window", 0, "`DURATION` within which refusals count")
			f.Uint64Var(&index, "check-index", 0, "change only if the configuration's modify index is `INDEX`")
		},
		run: func(r *call) error {
			res, _, err := r.cl.Operator().SchedulerConfig(r.ctx, nil)
			if err != nil {
				return err
			}
			config := *res.SchedulerConfig
			changed := 0
			for name, take := range schedulerFlags(&config, &set) {
				if r.flags.Changed(name) {
					take()
					changed++
				}
			}
			if changed == 0 {
				return usagef("say what to change; \"reeve operator scheduler get-config\" shows how it is")
			}
			if !r.flags.Changed("check-index") {
				index = config.ModifyIndex
			}
			done, err := r.cl.Operator().SetSchedulerConfig(r.ctx, &config, &index)
			if err != nil {
				return err
			}
			if !done.Updated {
				return api.Errorf(api.CodeConflict, "nothing was changed: the configuration's modify index is %d, not %d; look at it and try again", done.Index, index)
			}
			fmt.Fprintf(c.Stdout, "The scheduler's configuration is changed, at index %d.\n", done.Index)
			return nil
		},
	}
}

// schedulerFlags takes settings from one configuration into another, by the
// flag that sets each.
func schedulerFlags(into, from *api.SchedulerConfig) map[string]func() {
	return map[string]func(){
		"scheduler-algorithm":        func() { into.Algorithm = from.Algorithm },
		"preempt-system-scheduler":   func() { into.Preemption.SystemSchedulerEnabled = from.Preemption.SystemSchedulerEnabled },
		"preempt-sysbatch-scheduler": func() { into.Preemption.SysBatchSchedulerEnabled = from.Preemption.SysBatchSchedulerEnabled },
		"preempt-service-scheduler":  func() { into.Preemption.ServiceSchedulerEnabled = from.Preemption.ServiceSchedulerEnabled },
		"preempt-batch-scheduler":    func() { into.Preemption.BatchSchedulerEnabled = from.Preemption.BatchSchedulerEnabled },
		"memory-oversubscription":    func() { into.MemoryOversubscriptionEnabled = from.MemoryOversubscriptionEnabled },
		"reject-job-registration":    func() { into.RejectJobRegistration = from.RejectJobRegistration },
		"pause-eval-broker":          func() { into.PauseEvalBroker = from.PauseEvalBroker },
		"zone-attribute":             func() { into.ZoneAttribute = from.ZoneAttribute },
		"max-starting-per-node":      func() { into.MaxStartingPerNode = from.MaxStartingPerNode },
		"rejections-mark-ineligible": func() { into.Rejections.MarkIneligible = from.Rejections.MarkIneligible },
		"rejections-threshold":       func() { into.Rejections.NodeThreshold = from.Rejections.NodeThreshold },
		"rejections-window":          func() { into.Rejections.NodeWindow = from.Rejections.NodeWindow },
	}
}
