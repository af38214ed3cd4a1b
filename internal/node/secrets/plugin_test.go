// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// plugin installs a shell script.
func plugin(t *testing.T, script string) *Plugins {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return New(dir)
}

func TestPluginProvidesValues(t *testing.T) {
	t.Setenv("AGENT_SECRET", "hunter2")
	p := plugin(t, `echo "{\"result\": {\"args\": \"$*\", \"own\": \"$OWN\", \"job\": \"$NOMAD_NAMESPACE/$NOMAD_JOB_ID\", \"agent\": \"$AGENT_SECRET\"}}"`)
	got, err := p.Fetch(t.Context(), Request{Plugin: "p", Path: "a b", Namespace: "n", JobID: "j", Env: map[string]string{"OWN": "x", "NOMAD_NAMESPACE": "other"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"args": "fetch a b", "own": "x", "job": "n/j", "agent": ""}, got); d != "" {
		t.Error(d)
	}
}

func TestPluginFailures(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"error": "no such path"}'`:                       "reports: no such path",
		`echo canary; exit 0`:                                    "something else than",
		`echo '{"result": {"x": {"y": "canary"}}}'`:              "something else than",
		`echo oops >&2; exit 3`:                                  "exit status 3: oops",
		`echo '{"result": {"x": "canary"}}'; exit 3`:             "exit status 3",
		`while :; do echo canarycanarycanary; done | head -c 2M`: "more than 1048576 bytes",
		`echo '{"result": {}, "error": "a\u001b[31mb"}'`:         "reports: ab",
	} {
		_, err := plugin(t, script).Fetch(t.Context(), Request{Plugin: "p"})
		var again *driver.RecoverableError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &again) {
			t.Errorf("%s: the error is %v, want one with %q that allows another attempt", script, err, want)
			continue
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error shows the output: %v", script, err)
		}
	}
}

func TestPluginThatHangsIsKilled(t *testing.T) {
	p := plugin(t, "sleep 86400 & sleep 86400")
	p.timeout = 100 * time.Millisecond
	if _, err := p.Fetch(t.Context(), Request{Plugin: "p"}); err == nil || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Fetch(ctx, Request{Plugin: "p"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
}

func TestOnlyTheOperatorsProgramsRun(t *testing.T) {
	p := plugin(t, "touch ran")
	for name, prepare := range map[string]func(){
		"../p": func() {}, "": func() {}, ".": func() {}, "none": func() {},
		"p": func() { os.Chmod(filepath.Join(p.dir, "p"), 0o777) },
		"d": func() { os.Mkdir(filepath.Join(p.dir, "d"), 0o755) },
		"f": func() { os.WriteFile(filepath.Join(p.dir, "f"), nil, 0o644) },
	} {
		prepare()
		if _, err := p.Fetch(t.Context(), Request{Plugin: name}); err == nil {
			t.Errorf("the plugin %q was called", name)
		}
	}
}
