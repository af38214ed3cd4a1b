// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/reeve-run/reeve/api"
)

var updateSchema = &schema[api.Update]{
	noun: "update",
	oneOf: map[string][]string{
		"health_check": {api.HealthCheckChecks, api.HealthCheckTaskStates, api.HealthCheckManual},
	},
	attrs: attrs[api.Update]{
		"stagger":           func(u *api.Update) any { return &u.Stagger },
		"max_parallel":      func(u *api.Update) any { return maxParallel(u) },
		"health_check":      func(u *api.Update) any { return &u.HealthCheck },
		"min_healthy_time":  func(u *api.Update) any { return &u.MinHealthyTime },
		"healthy_deadline":  func(u *api.Update) any { return &u.HealthyDeadline },
		"progress_deadline": func(u *api.Update) any { return &u.ProgressDeadline },
		"canary":            func(u *api.Update) any { return &u.Canary },
		"auto_revert":       func(u *api.Update) any { return &u.AutoRevert },
		"auto_promote":      func(u *api.Update) any { return &u.AutoPromote },
	},
}

// maxParallel sets a number, or a share of the instances.
func maxParallel(u *api.Update) any {
	return func(v cty.Value) error {
		if text, err := toText(v); err == nil && strings.HasSuffix(text, "%") {
			_, percent, err := api.ParseShare(text)
			u.MaxParallelPercent = &percent
			return err
		}
		return storeNew(&u.MaxParallel, v, toInt[int])
	}
}

var recoverySchema = &schema[api.Recovery]{
	noun:     "recovery",
	required: []string{"permanent_after"},
	attrs: attrs[api.Recovery]{
		"permanent_after": func(r *api.Recovery) any { return &r.PermanentAfter },
	},
}

var restartSchema = &schema[api.Restart]{
	noun: "restart",
	oneOf: map[string][]string{
		"mode":           {api.RestartModeFail, api.RestartModeDelay},
		"delay_function": {api.DelayConstant, api.DelayExponential, api.DelayFibonacci},
	},
	attrs: attrs[api.Restart]{
		"interval":         func(r *api.Restart) any { return &r.Interval },
		"attempts":         func(r *api.Restart) any { return &r.Attempts },
		"delay":            func(r *api.Restart) any { return &r.Delay },
		"mode":             func(r *api.Restart) any { return &r.Mode },
		"render_templates": func(r *api.Restart) any { return &r.RenderTemplates },
		"immediate":        func(r *api.Restart) any { return &r.Immediate },
		"delay_function":   func(r *api.Restart) any { return &r.DelayFunction },
		"max_delay":        func(r *api.Restart) any { return &r.MaxDelay },
		"reset_after":      func(r *api.Restart) any { return &r.ResetAfter },
	},
}

var rescheduleSchema = &schema[api.Reschedule]{
	noun: "reschedule",
	oneOf: map[string][]string{
		"delay_function": {api.DelayConstant, api.DelayExponential, api.DelayFibonacci},
	},
	attrs: attrs[api.Reschedule]{
		"attempts":       func(r *api.Reschedule) any { return &r.Attempts },
		"interval":       func(r *api.Reschedule) any { return &r.Interval },
		"delay":          func(r *api.Reschedule) any { return &r.Delay },
		"delay_function": func(r *api.Reschedule) any { return &r.DelayFunction },
		"max_delay":      func(r *api.Reschedule) any { return &r.MaxDelay },
		"unlimited":      func(r *api.Reschedule) any { return &r.Unlimited },
		"immediate":      func(r *api.Reschedule) any { return &r.Immediate },
	},
}

var migrateSchema = &schema[api.Migrate]{
	noun: "migrate",
	oneOf: map[string][]string{
		"health_check": {api.HealthCheckChecks, api.HealthCheckTaskStates, api.HealthCheckManual},
	},
	attrs: attrs[api.Migrate]{
		"max_parallel":     func(m *api.Migrate) any { return &m.MaxParallel },
		"health_check":     func(m *api.Migrate) any { return &m.HealthCheck },
		"min_healthy_time": func(m *api.Migrate) any { return &m.MinHealthyTime },
		"healthy_deadline": func(m *api.Migrate) any { return &m.HealthyDeadline },
		"recreate":         func(m *api.Migrate) any { return &m.Recreate },
	},
}

var disconnectSchema = &schema[api.Disconnect]{
	noun: "disconnect",
	oneOf: map[string][]string{
		"reconcile": {api.ReconcileKeepOriginal, api.ReconcileKeepReplacement, api.ReconcileBestScore, api.ReconcileLongestRunning},
	},
	attrs: attrs[api.Disconnect]{
		"lost_after":           func(c *api.Disconnect) any { return &c.LostAfter },
		"stop_on_client_after": func(c *api.Disconnect) any { return &c.StopOnClientAfter },
		"replace":              func(c *api.Disconnect) any { return &c.Replace },
		"reconcile":            func(c *api.Disconnect) any { return &c.Reconcile },
	},
}
