// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestAutopilotConfigJSON(t *testing.T) {
	text, err := json.Marshal(DefaultAutopilotConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"LastContactThreshold":"200ms"`, `"ServerStabilizationTime":"10s"`, `"MaxTrailingLogs":250`, `"CleanupDeadServers":true`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	var c AutopilotConfig
	if err := json.Unmarshal(text, &c); err != nil || c != *DefaultAutopilotConfig() {
		t.Errorf("%s is read as %+v, %v", text, c, err)
	}
	if err := json.Unmarshal([]byte(`{"LastContactThreshold": 1000000000, "ServerStabilizationTime": null}`), &c); err != nil || c.LastContactThreshold != time.Second || c.ServerStabilizationTime != 10*time.Second {
		t.Errorf("nanoseconds are read as %+v, %v", c, err)
	}
	for _, bad := range []string{`{"LastContactThreshold": "soon"}`, `{"ServerStabilizationTime": [1]}`} {
		if err := json.Unmarshal([]byte(bad), &c); err == nil || !strings.Contains(err.Error(), "must be a duration") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for name, change := range map[string]func(*AutopilotConfig){
		"LastContactThreshold":    func(c *AutopilotConfig) { c.LastContactThreshold = 0 },
		"ServerStabilizationTime": func(c *AutopilotConfig) { c.ServerStabilizationTime = -1 },
		"MaxTrailingLogs":         func(c *AutopilotConfig) { c.MaxTrailingLogs = 0 },
		"MinQuorum":               func(c *AutopilotConfig) { c.MinQuorum = 100 },
		"EnableRedundancyZones":   func(c *AutopilotConfig) { c.EnableRedundancyZones = true },
	} {
		c := DefaultAutopilotConfig()
		change(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a bad %s: %v", name, err)
		}
	}
}
