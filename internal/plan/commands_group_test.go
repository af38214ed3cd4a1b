// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

func newGroup(name string, options map[string]string) *api.Group {
	task := &api.Task{Name: "main", Driver: "mock", Resources: &api.Resources{CPU: new(100), MemoryMB: new(100)}}
	g := &api.Group{Name: name, Tasks: []*api.Task{task}, Networks: nil, EphemeralDisk: &api.EphemeralDisk{SizeMB: new(100)}}
	update, reschedule, disconnect := &api.Update{}, &api.Reschedule{}, &api.Disconnect{}
	for key, value := range options {
		n, _ := strconv.Atoi(value)
		d, _ := time.ParseDuration(value)
		switch key {
		case "count":
			g.Count = &n
		case "cpu":
			task.Resources.CPU = &n
		case "memory":
			task.Resources.MemoryMB = &n
		case "max_parallel":
			update.MaxParallel = &n
		case "progress":
			update.ProgressDeadline = &d
			if d > 0 {
				update.HealthyDeadline = new(d / 2)
			}
		case "canary":
			update.Canary = &n
		case "auto_promote":
			update.AutoPromote = new(value == "true")
		case "health_check":
			update.HealthCheck = &value
		case "share":
			update.MaxParallelPercent = &n
		case "auto_revert":
			update.AutoRevert = new(value == "true")
		case "port":
			g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: n}}}}
		case "dynamic":
			network := &api.Network{}
			for i := range n {
				network.DynamicPorts = append(network.DynamicPorts, api.Port{Label: fmt.Sprintf("p%d", i)})
			}
			g.Networks = []*api.Network{network}
		case "env":
			task.Env = map[string]string{"V": value}
		case "check":
			g.Services = []*api.Service{{Name: name, Provider: "nomad", PortLabel: "8080", Checks: []*api.Check{{
				Name: "ready", Type: api.CheckHTTP, Path: "/" + value, Interval: 10 * time.Second, Timeout: time.Second,
			}}}}
		case "tag":
			g.Services = []*api.Service{{Name: name, Provider: "nomad", Tags: []string{value}}}
		case "constraint":
			key, value, _ := strings.Cut(value, ":")
			g.Constraints = append(g.Constraints, &api.Constraint{LTarget: "${meta." + key + "}", Operand: "=", RTarget: value})
		case "attempts":
			reschedule.Attempts, reschedule.Unlimited = &n, new(false)
		case "interval":
			reschedule.Interval = &d
		case "delay":
			reschedule.Delay = &d
		case "max_delay":
			reschedule.MaxDelay = &d
		case "immediate":
			reschedule.Immediate = &n
		case "function":
			reschedule.DelayFunction = &value
		case "driver":
			task.Driver = value
		case "distinct":
			g.Constraints = append(g.Constraints, &api.Constraint{Operand: "distinct_" + value, RTarget: "true"})
		case "affinity":
			key, value, _ := strings.Cut(value, ":")
			g.Affinities = []*api.Affinity{{LTarget: "${meta." + key + "}", Operand: "=", RTarget: value, Weight: new(int8(100))}}
		case "spread":
			g.Spreads = []*api.Spread{{Attribute: "${meta." + value + "}", Weight: new(int8(100))}}
		case "permanent_after":
			g.Recovery = &api.Recovery{PermanentAfter: &d}
		case "recreate":
			g.Migrate = &api.Migrate{Recreate: new(value == "true")}
		case "lost_after":
			disconnect.LostAfter = &d
		case "stop_on_client_after":
			disconnect.StopOnClientAfter = &d
		case "replace":
			disconnect.Replace = new(value == "true")
		case "reconcile":
			disconnect.Reconcile = &value
		}
	}
	g.Update = update
	if *disconnect != (api.Disconnect{}) {
		g.Disconnect = disconnect
	}
	if *reschedule != (api.Reschedule{}) {
		g.Reschedule = reschedule
	}
	return g
}
