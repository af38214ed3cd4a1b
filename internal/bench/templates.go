// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// templatesOfNode changes a variable that a thousand templates of a hundred tasks of one node contain, and measures until all files have
// the new value; and the processor time of their agent while nothing changes.
func templatesOfNode(ctx context.Context, b *bench) error {
	const tasks, each, id = 100, 10, "templates"
	const n = tasks * each
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	put := func(value string) error {
		_, err := m.Client.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: "nomad/jobs/" + id}, Items: map[string]string{"x": value}})
		return err
	}
	if err := put("0"); err != nil {
		return err
	}
	plain, err := m.idleWith(ctx, testbed.ShellJob("plain", tasks, "exec sleep 86400"), tasks)
	if err != nil {
		return err
	}
	job, now := testbed.ShellJob(id, tasks, "exec sleep 86400"), time.Duration(0)
	for i := range each {
		job.Groups[0].Tasks[0].Templates = append(job.Groups[0].Tasks[0].Templates, &api.Template{
			DestPath: fmt.Sprintf("local/x%d", i), EmbeddedTmpl: `{{with nomadVar "nomad/jobs/` + id + `"}}{{.x}}{{end}}`, ChangeMode: api.TemplateNoop, Splay: &now,
		})
	}
	begin := time.Now()
	if err := register(ctx, m, job); err != nil {
		return err
	}
	if err := m.allRunning(ctx, id, tasks); err != nil {
		return err
	}
	b.add("100 raw_exec tasks with 10 templates of a variable each: all running in state", "", "%s", ms(time.Since(begin)))
	files, err := filepath.Glob(filepath.Join(m.Dir, "node/alloc/*/task/local/x*"))
	if err != nil || len(files) != n {
		return fmt.Errorf("%d of %d files: %w", len(files), n, err)
	}
	var t times
	for i := range 10 {
		value, next := fmt.Sprint(i+1), 0
		begin := time.Now()
		if err := put(value); err != nil {
			return err
		}
		if err := m.poll(ctx, func(context.Context) error {
			for ; next < n; next++ {
				if text, err := os.ReadFile(files[next]); err != nil || string(text) != value {
					return fmt.Errorf("%s: %q, not %q: %w", files[next], text, value, err)
				}
			}
			return nil
		}); err != nil {
			return err
		}
		t = append(t, time.Since(begin))
	}
	b.add("a changed variable -> 1,000 templates of a node rendered", "<= 1 s", "median %s, worst %s of %d", ms(t.at(0.5)), ms(t.at(1)), len(t))
	with, err := m.idle(ctx)
	if err != nil {
		return err
	}
	b.add("... while nothing changes: processor time of server and agent, with the same tasks without templates", "equal", "%.2f %%, %.2f %%", with, plain)
	return nil
}

// idleWith returns the idle share of a machine with a job, which it removes.
func (m *machine) idleWith(ctx context.Context, job *api.Job, tasks int) (float64, error) {
	if err := register(ctx, m, job); err != nil {
		return 0, err
	}
	if err := m.allRunning(ctx, job.ID, tasks); err != nil {
		return 0, err
	}
	share, err := m.idle(ctx)
	if err != nil {
		return 0, err
	}
	_, err = m.Client.Jobs().Deregister(ctx, job.ID, purge)
	return share, err
}

// idle returns the processor time of server and agent while nothing happens, in percent of one processor.
func (m *machine) idle(ctx context.Context) (float64, error) {
	if err := pause(ctx, settle); err != nil {
		return 0, err
	}
	begin, before := time.Now(), processorTime([]int{m.PID()})
	err := pause(ctx, 3*settle)
	return 100 * (processorTime([]int{m.PID()}) - before).Seconds() / time.Since(begin).Seconds(), err
}
