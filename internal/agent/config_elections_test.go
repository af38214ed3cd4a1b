// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheElectionTimeout(t *testing.T) {
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		if err := os.WriteFile(path, []byte("server {\n"+text+"\n}"), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadConfig([]string{path})
	}
	for text, want := range map[string]time.Duration{
		``:                          0,
		`election_timeout = "50ms"`: 50 * time.Millisecond,
		`election_timeout = "1.5s"`: 1500 * time.Millisecond,
		`election_timeout = "30s"`:  30 * time.Second,
		`raft_multiplier = 1`:       time.Second,
		`raft_multiplier = 10`:      10 * time.Second,
	} {
		c, err := load(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if c.Server.ElectionTimeout != want {
			t.Errorf("%s: %s, want %s", text, c.Server.ElectionTimeout, want)
		}
	}
	for text, want := range map[string]string{
		`election_timeout = "49ms"`:                      "from 50ms to 30s",
		`election_timeout = "31s"`:                       "from 50ms to 30s",
		`election_timeout = "-1s"`:                       "from 50ms to 30s",
		`election_timeout = "soon"`:                      "from 50ms to 30s",
		`raft_multiplier = -1`:                           "must be 1 to 10",
		`raft_multiplier = 11`:                           "must be 1 to 10",
		"election_timeout = \"1s\"\nraft_multiplier = 2": "remove one of them",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "agent.hcl: server") {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
