// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestDockerDaemonRunsThePinnedImage moves a tag while a daemon runs a version: another instance and a restart
// have the first image, also without the registry, and a new version has the second.
func TestDockerDaemonRunsThePinnedImage(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	m, _ := dockerMachine(t)
	image, first := r.push("tool:latest", "one")
	job := daemonJob("service", "env VERSION , wait , exit 3")
	job.Groups[0].Tasks[0].Config["image"], job.Groups[0].Tasks[0].Config["force_pull"] = image, true
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(9), Delay: ptr(time.Second), Mode: ptr("delay")}
	m.register(job)
	alloc := m.allocations("service", "runs", running(1))[0].ID
	m.printed(alloc, "VERSION=one", "waiting")

	_, second := r.push("tool:latest", "two")
	scaled := *job
	groups := *job.Groups[0]
	groups.Count, scaled.Groups = ptr(2), []*api.Group{&groups}
	m.register(&scaled) // updates the first instance in place
	for _, a := range m.allocations("service", "run", running(2)) {
		m.printed(a.ID, "VERSION=one", "waiting")
	}
	r.away.Store(true)
	if err := m.Client.Allocations().Signal(t.Context(), alloc, api.SignalAllocationRequest{Task: "task", Signal: "SIGUSR1"}); err != nil {
		t.Fatal(err)
	}
	m.eventually("the restart", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); strings.Count(got, "VERSION=one") != 2 {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
	r.away.Store(false)
	next := scaled
	next.Meta = map[string]string{"release": "2"}
	m.register(&next)
	m.eventually("the new version", func(ctx context.Context) error {
		pins, _, err := m.Client.Jobs().Images(ctx, "service", nil)
		if err == nil && (len(pins) != 3 || pins[0].JobVersion != 2 || pins[0].Digest != second || pins[2].Digest != first) {
			err = fmt.Errorf("pins: %s", m.reeve("job", "status", "service"))
		}
		return err
	})
}
