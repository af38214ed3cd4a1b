// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func operatorSchedulerSetCommand(c *cli) *command {
	var set api.SchedulerConfig // values of the flags
	var index uint64
	return &command{
		use:   "set-config",
		short: "Change the scheduler configuration",
		long: `Change the settings of the given flags; other settings do not change. New
placements use the new configuration immediately. The command fails if another
operator changes the configuration at the same time.`,
		example: "reeve operator scheduler set-config -preempt-service-scheduler=true\nreeve operator scheduler set-config -scheduler-algorithm spread -check-index 42",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&set.Algorithm, "scheduler-algorithm", "", "place with `ALGORITHM`: binpack fills one node after another, spread uses all nodes evenly")
			f.BoolVar(&set.Preemption.SystemSchedulerEnabled, "preempt-system-scheduler", false, "let system jobs preempt allocations of lower priority")
			f.BoolVar(&set.Preemption.SysBatchSchedulerEnabled, "preempt-sysbatch-scheduler", false, "let sysbatch jobs preempt")
			f.BoolVar(&set.Preemption.ServiceSchedulerEnabled, "preempt-service-scheduler", false, "let services preempt")
			f.BoolVar(&set.Preemption.BatchSchedulerEnabled, "preempt-batch-scheduler", false, "let batch jobs preempt")
			f.BoolVar(&set.MemoryOversubscriptionEnabled, "memory-oversubscription", false, "let tasks use memory up to their memory_max")
			f.BoolVar(&set.RejectJobRegistration, "reject-job-registration", false, "reject registration, scaling and reverts of jobs")
			f.BoolVar(&set.PauseEvalBroker, "pause-eval-broker", false, "pause evaluations: they stay queued")
			f.StringVar(&set.ZoneAttribute, "zone-attribute", "", "spread services without their own spread over `ATTRIBUTE`, such as '${meta.zone}'; \"\" disables this")
			f.IntVar(&set.MaxStartingPerNode, "max-starting-per-node", 0, "start at most `COUNT` allocations on a node at the same time; 0 sets no limit")
			f.BoolVar(&set.Rejections.MarkIneligible, "rejections-mark-ineligible", false, "mark nodes that repeatedly reject placements as ineligible")
			f.IntVar(&set.Rejections.NodeThreshold, "rejections-threshold", 0, "mark a node after `COUNT` rejections; 0 disables this")
			f.DurationVar(&set.Rejections.NodeWindow, "rejections-window", 0, "count rejections within `DURATION`")
			f.Uint64Var(&index, "check-index", 0, "change the configuration only if its modify index is `INDEX`")
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
				return usagef("set at least one flag; \"reeve operator scheduler get-config\" shows the configuration")
			}
			if !r.flags.Changed("check-index") {
				index = config.ModifyIndex
			}
			done, err := r.cl.Operator().SetSchedulerConfig(r.ctx, &config, &index)
			if err != nil {
				return err
			}
			if !done.Updated {
				return api.Errorf(api.CodeConflict, "change scheduler configuration: its modify index is %d, not %d; read it and try again", done.Index, index)
			}
			fmt.Fprintf(c.Stdout, "Changed the scheduler configuration at index %d.\n", done.Index)
			return nil
		},
	}
}

// schedulerFlags maps each flag to the copy of its setting from one configuration into
// another.
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
