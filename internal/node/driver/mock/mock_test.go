// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package mock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/mock"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestBehavesAsTold(t *testing.T) {
	for name, c := range map[string]struct {
		config map[string]any
		want   driver.Exit
		after  time.Duration
	}{
		"ends at once":     {map[string]any{}, driver.Exit{}, 0},
		"runs for a while": {map[string]any{"run_for": "90s", "exit_code": 3}, driver.Exit{Code: 3}, 90 * time.Second},
		"numbers as text":  {map[string]any{"run_for": 1e9, "exit_code": "4"}, driver.Exit{Code: 4}, time.Second},
		"by a signal":      {map[string]any{"run_for": "1s", "exit_signal": 15}, driver.Exit{Code: 143, Signal: 15}, time.Second},
		"starts slowly":    {map[string]any{"start_block_for": "5s", "run_for": "1s"}, driver.Exit{}, 6 * time.Second},
	} {
		bubble.Test(t, func(t *testing.T) {
			begin := time.Now()
			h, err := mock.New().Start(t.Context(), &driver.Task{ID: "t", Config: c.config})
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.want.At = begin.Add(c.after)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestFailsAsTold(t *testing.T) {
	start := func(config map[string]any) (driver.Handle, error) {
		return mock.New().Start(t.Context(), &driver.Task{ID: "t", Config: config})
	}
	var recoverable *driver.RecoverableError
	if _, err := start(map[string]any{"start_error": "no"}); err == nil || err.Error() != "no" || errors.As(err, &recoverable) {
		t.Errorf("start_error: %v", err)
	}
	if _, err := start(map[string]any{"start_error": "no", "start_error_recoverable": true}); !errors.As(err, &recoverable) {
		t.Errorf("start_error_recoverable: %v", err)
	}
	if _, err := start(map[string]any{"run_for": "soon"}); err == nil {
		t.Error("a wrong duration was accepted")
	}
	h, err := start(map[string]any{"exit_err_msg": "broken", "signal_error": "deaf"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err == nil || err.Error() != "broken" {
		t.Errorf("exit_err_msg: %v", err)
	}
	if err := h.Signal(t.Context(), "SIGHUP"); err == nil || err.Error() != "deaf" {
		t.Errorf("signal_error: %v", err)
	}
}

func TestStopTakesAsLongAsTold(t *testing.T) {
	for killAfter, want := range map[string]time.Duration{"": 0, "3s": 3 * time.Second, "1h": 10 * time.Second} {
		bubble.Test(t, func(t *testing.T) {
			h, err := mock.New().Start(t.Context(), &driver.Task{ID: "t", Config: map[string]any{"run_for": "24h", "kill_after": killAfter}})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := h.Stop(t.Context(), "SIGTERM", 10*time.Second); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin); got != want {
				t.Errorf("kill_after %q: stopped after %v, want %v", killAfter, got, want)
			}
		})
	}
}

func TestPrintsAsTold(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "out")
	bubble.Test(t, func(t *testing.T) {
		h, err := mock.New().Start(t.Context(), &driver.Task{
			ID: "t", Logs: driver.Logs{StdoutPrefix: prefix},
			Config: map[string]any{"run_for": "1m", "stdout_string": "tick\n", "stdout_repeat": 2, "stdout_repeat_duration": "1s"},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Wait(t.Context())
	})
	if b, err := os.ReadFile(prefix + ".0"); err != nil || string(b) != "tick\ntick\ntick\n" {
		t.Errorf("output %q, %v", b, err)
	}
}

func TestRecoverFindsOnlyItsOwn(t *testing.T) {
	d, task := mock.New(), &driver.Task{ID: "t", Config: map[string]any{"run_for": "24h"}}
	if _, err := d.Recover(t.Context(), task); err != driver.ErrTaskLost {
		t.Errorf("recover a stranger: %v", err)
	}
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.Recover(t.Context(), task); err != nil || again != h {
		t.Errorf("recover: %v, %v", again, err)
	}
	h.Destroy(t.Context())
	if _, err := d.Recover(t.Context(), task); err != driver.ErrTaskLost {
		t.Errorf("recover what was destroyed: %v", err)
	}
}

func BenchmarkStart1000(b *testing.B) {
	for b.Loop() {
		d := mock.New()
		for i := range 1000 {
			if _, err := d.Start(b.Context(), &driver.Task{ID: fmt.Sprint(i), Config: map[string]any{"run_for": "24h"}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
