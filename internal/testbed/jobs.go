// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Job returns a service with one group "main" and one small task "task". All its instances may
// be replaced together, and are healthy as soon as they run.
func Job(id, driver string, count int, config map[string]any) *api.Job {
	return &api.Job{
		ID: id,
		Groups: []*api.Group{{
			Name: "main", Count: &count,
			Update:        &api.Update{MinHealthyTime: ptr(time.Duration(0)), MaxParallel: ptr(max(count, 1))},
			EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(10)},
			Tasks: []*api.Task{{
				Name: "task", Driver: driver, Config: config,
				Resources: &api.Resources{CPU: ptr(1), MemoryMB: ptr(10)},
				Logs:      &api.Logs{MaxFiles: ptr(2), MaxFileSizeMB: ptr(1)},
			}},
		}},
	}
}

// ShellJob returns a Job whose task is a shell script, run by raw_exec.
func ShellJob(id string, count int, script string) *api.Job {
	return Job(id, "raw_exec", count, map[string]any{"command": "/bin/sh", "args": []string{"-c", script}})
}

func ptr[T any](v T) *T { return &v }
