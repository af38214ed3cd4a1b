// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/api"
)

// forever is the length of a run that ends only when it is stopped.
const forever = time.Duration(-1)

// A behaviour describes how instances of a group behave: by the config of their mock tasks,
// and otherwise by the scenario.
type behaviour struct {
	tasks     []string
	start     time.Duration // delay from its arrival until it runs
	startFail bool
	runFor    time.Duration // forever, or the time until all main tasks have ended
	fails     bool          // reports whether it ends as failed
	kill      time.Duration // delay from a stop until it has ended
	batch     bool          // reports whether it may complete
	restarts  int           // number of restarts in place before the allocation fails
	delay     time.Duration // delay before each restart
	healthy   time.Duration // running time until it is healthy; negative: it reports no health

	scenario *Tasks
}

func newBehaviour(job *api.Job, g *api.Group, t *Tasks) (*behaviour, error) {
	b := &behaviour{scenario: t, healthy: -1, batch: job.RunsToCompletion()}
	for _, task := range g.Tasks {
		b.tasks = append(b.tasks, task.Name)
		if err := b.addTask(task, t); err != nil {
			return nil, fmt.Errorf("job %q: group %q: task %q: %w", job.ID, g.Name, task.Name, err)
		}
	}
	if t.Forever {
		b.runFor, b.fails, b.startFail = forever, false, false
	}
	if u := g.Update; u != nil && u.MinHealthyTime != nil && !(u.HealthCheck != nil && *u.HealthCheck == api.HealthCheckManual) {
		b.healthy = *u.MinHealthyTime
	}
	return b, nil
}

func (b *behaviour) addTask(task *api.Task, t *Tasks) error {
	config := config{values: task.Config}
	if task.Driver != "mock" && task.Driver != "mock_driver" {
		config.values = nil
	}
	b.start = max(b.start, config.duration("start_block_for"))
	kill := config.duration("kill_after")
	if task.KillTimeout != nil {
		kill = min(kill, *task.KillTimeout)
	}
	b.kill = max(b.kill, kill)
	b.startFail = b.startFail || config.text("start_error") != ""
	if r := task.Restart; r != nil && r.Attempts != nil && task.IsMain() {
		b.restarts = max(b.restarts, *r.Attempts)
		if r.Delay != nil {
			b.delay = *r.Delay
		}
	}
	if !task.IsMain() {
		return config.err
	}
	run := config.duration("run_for")
	if config.values == nil {
		if run = forever; b.batch {
			run = t.RunFor
		}
	}
	if run < 0 || b.runFor < 0 {
		b.runFor = forever
	} else {
		b.runFor = max(b.runFor, run)
	}
	b.fails = b.fails || config.number("exit_code") != 0 || config.number("exit_signal") != 0 || config.text("exit_err_msg") != ""
	return config.err
}

// life holds the values drawn for one run of an instance.
type life struct {
	start  time.Duration
	runFor time.Duration
	fails  bool
}

func (b *behaviour) draw(rng *rand.Rand) life {
	l := life{start: b.start + b.scenario.Start.draw(rng), runFor: b.runFor, fails: b.fails}
	if !b.scenario.Forever && b.scenario.Fail > 0 && rng.Float64() < b.scenario.Fail {
		l.runFor, l.fails = b.scenario.FailIn.draw(rng), true
	}
	return l
}

func (r Range) draw(rng *rand.Rand) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(rng.Int64N(int64(r.Max-r.Min)))
}

// config reads the mock driver's keys and records the first invalid one.
type config struct {
	values map[string]any
	err    error
}

func (c *config) duration(key string) time.Duration {
	switch v := c.values[key].(type) {
	case nil:
		return 0
	case string:
		d, err := time.ParseDuration(v)
		if err != nil {
			c.fail(key, v)
		}
		return d
	default:
		return time.Duration(c.number(key))
	}
}

func (c *config) number(key string) int64 {
	switch v := c.values[key].(type) {
	case nil:
	case int:
		return int64(v)
	case int64:
		return v
	case float64:
		return int64(v)
	default:
		c.fail(key, v)
	}
	return 0
}

func (c *config) text(key string) string {
	text, _ := c.values[key].(string)
	return text
}

func (c *config) fail(key string, v any) {
	if c.err == nil {
		c.err = fmt.Errorf("config: %s = %v is not what it should be", key, v)
	}
}
