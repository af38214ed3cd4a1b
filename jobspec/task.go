// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var taskSchema = &schema[api.Task]{
	noun:     "task",
	label:    "name",
	name:     func(t *api.Task) *string { return &t.Name },
	required: []string{"driver"},
	oneOf:    map[string][]string{"goal": {api.GoalRunning, api.GoalFinish, api.GoalOnce}},
	finish:   finishTask,
	attrs: attrs[api.Task]{
		"driver":         func(t *api.Task) any { return &t.Driver },
		"user":           func(t *api.Task) any { return &t.User },
		"kill_timeout":   func(t *api.Task) any { return &t.KillTimeout },
		"leader":         func(t *api.Task) any { return &t.Leader },
		"shutdown_delay": func(t *api.Task) any { return &t.ShutdownDelay },
		"kill_signal":    func(t *api.Task) any { return &t.KillSignal },
		"kind":           func(t *api.Task) any { return &t.Kind },
		"goal":           func(t *api.Task) any { return &t.Goal },
		"essential":      func(t *api.Task) any { return &t.Essential },
		"daemon":         func(t *api.Task) any { return &t.Daemon },
		"after":          func(t *api.Task) any { return &t.After },
		"timeout":        func(t *api.Task) any { return &t.Timeout },
		"result_file":    func(t *api.Task) any { return &t.ResultFile },
	},
	blocks: blocks[api.Task]{
		"lifecycle":        one(lifecycleSchema, func(t *api.Task) **api.Lifecycle { return &t.Lifecycle }),
		"config":           anything(func(t *api.Task) *map[string]any { return &t.Config }),
		"constraint":       many(constraintSchema, func(t *api.Task) *[]*api.Constraint { return &t.Constraints }),
		"affinity":         many(affinitySchema, func(t *api.Task) *[]*api.Affinity { return &t.Affinities }),
		"env":              texts(func(t *api.Task) *map[string]string { return &t.Env }),
		"service":          many(serviceSchema, func(t *api.Task) *[]*api.Service { return &t.Services }),
		"resources":        one(resourcesSchema, func(t *api.Task) **api.Resources { return &t.Resources }),
		"restart":          one(restartSchema, func(t *api.Task) **api.Restart { return &t.Restart }),
		"meta":             texts(func(t *api.Task) *map[string]string { return &t.Meta }),
		"logs":             one(logsSchema, func(t *api.Task) **api.Logs { return &t.Logs }),
		"artifact":         many(artifactSchema, func(t *api.Task) *[]*api.Artifact { return &t.Artifacts }),
		"vault":            one(vaultSchema, func(t *api.Task) **api.Vault { return &t.Vault }),
		"consul":           one(consulSchema, func(t *api.Task) **api.Consul { return &t.Consul }),
		"template":         many(templateSchema, func(t *api.Task) *[]*api.Template { return &t.Templates }),
		"dispatch_payload": one(dispatchPayloadSchema, func(t *api.Task) **api.DispatchPayload { return &t.DispatchPayload }),
		"volume_mount":     many(volumeMountSchema, func(t *api.Task) *[]*api.VolumeMount { return &t.VolumeMounts }),
		"csi_plugin":       one(csiPluginSchema, func(t *api.Task) **api.CSIPlugin { return &t.CSIPlugin }),
		"scaling":          many(taskScalingSchema, func(t *api.Task) *[]*api.Scaling { return &t.Scaling }),
		"secret":           many(secretSchema, func(t *api.Task) *[]*api.Secret { return &t.Secrets }),
		"identity":         {known: identitySchema.keys(), block: readIdentity},
		"action":           many(actionSchema, func(t *api.Task) *[]*api.Action { return &t.Actions }),
		"schedule":         one(taskScheduleSchema, func(t *api.Task) **api.TaskSchedule { return &t.Schedule }),
		"monitor":          one(monitorSchema, func(t *api.Task) **api.Monitor { return &t.Monitor }),
	},
}

var lifecycleSchema = &schema[api.Lifecycle]{
	noun:     "lifecycle",
	required: []string{"hook"},
	oneOf: map[string][]string{
		"hook": {api.HookPrestart, api.HookPoststart, api.HookPoststop},
	},
	attrs: attrs[api.Lifecycle]{
		"hook":    func(l *api.Lifecycle) any { return &l.Hook },
		"sidecar": func(l *api.Lifecycle) any { return &l.Sidecar },
	},
}

var monitorSchema = &schema[api.Monitor]{
	noun:     "monitor",
	required: []string{"command"},
	attrs: attrs[api.Monitor]{
		"command":                  func(m *api.Monitor) any { return &m.Command },
		"args":                     func(m *api.Monitor) any { return &m.Args },
		"interval":                 func(m *api.Monitor) any { return &m.Interval },
		"timeout":                  func(m *api.Monitor) any { return &m.Timeout },
		"initial_delay":            func(m *api.Monitor) any { return &m.InitialDelay },
		"start_timeout":            func(m *api.Monitor) any { return &m.StartTimeout },
		"failures_before_critical": func(m *api.Monitor) any { return &m.FailuresBeforeCritical },
	},
}

var logsSchema = &schema[api.Logs]{
	noun: "logs",
	attrs: attrs[api.Logs]{
		"max_files":     func(l *api.Logs) any { return &l.MaxFiles },
		"max_file_size": func(l *api.Logs) any { return &l.MaxFileSizeMB },
		"enabled":       func(l *api.Logs) any { return &l.Enabled },
		"disabled":      func(l *api.Logs) any { return &l.Disabled },
	},
}

var dispatchPayloadSchema = &schema[api.DispatchPayload]{
	noun: "dispatch_payload",
	attrs: attrs[api.DispatchPayload]{
		"file": func(p *api.DispatchPayload) any { return &p.File },
	},
}

var actionSchema = &schema[api.Action]{
	noun:     "action",
	label:    "name",
	name:     func(a *api.Action) *string { return &a.Name },
	required: []string{"command"},
	attrs: attrs[api.Action]{
		"command": func(a *api.Action) any { return &a.Command },
		"args":    func(a *api.Action) any { return &a.Args },
	},
}

var taskScheduleSchema = &schema[api.TaskSchedule]{
	noun: "schedule",
	blocks: blocks[api.TaskSchedule]{
		"cron": one(taskCronSchema, func(s *api.TaskSchedule) **api.TaskScheduleCron { return &s.Cron }),
	},
}

var taskCronSchema = &schema[api.TaskScheduleCron]{
	noun: "cron",
	attrs: attrs[api.TaskScheduleCron]{
		"start":    func(c *api.TaskScheduleCron) any { return &c.Start },
		"end":      func(c *api.TaskScheduleCron) any { return &c.End },
		"timezone": func(c *api.TaskScheduleCron) any { return &c.Timezone },
	},
}

// finishTask checks conditions across several of the task's blocks.
func finishTask(d *decoder, t *api.Task, b *block) {
	d.finishConfig(t, b)
	notePlace(d, t, b)
}
