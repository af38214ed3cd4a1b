// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/server/backup"
)

func TestTheScheduleOfSnapshots(t *testing.T) {
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		if err := os.WriteFile(path, []byte("data_dir = \"/data\"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadConfig([]string{path})
	}
	for text, want := range map[string]backup.Config{
		`server {}`:                  {},
		"server {\n snapshots {}\n}": {Directory: "/data/snapshots", Interval: time.Hour, Retain: 24},
		"server {\n snapshots {\n directory = \"/backups\"\n interval = \"90s\"\n retain = 3\n servers = \"leader\"\n}\n}": {Directory: "/backups", Interval: 90 * time.Second, Retain: 3, LeaderOnly: true},
	} {
		c, err := load(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.snapshots(); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`interval = "0s"`:     "at least 1s",
		`interval = "hourly"`: "such as \"1h\"",
		`retain = 0`:          "at least 1",
		`retain = -1`:         "at least 1",
		`servers = "some"`:    `must be "all"`,
		`intervall = "1h"`:    "Unsupported argument",
	} {
		if _, err := load("server {\n snapshots {\n" + text + "\n}\n}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	c, err := LoadConfig([]string{"../../examples/snapshots.hcl"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.snapshots(), (backup.Config{Directory: "/var/backups/reeve", Interval: time.Hour, Retain: 24}); got != want {
		t.Errorf("the example: %+v, want %+v", got, want)
	}
}
