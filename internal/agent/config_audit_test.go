// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheConfigurationOfTheAuditLog(t *testing.T) {
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadConfig([]string{path})
	}
	for text, want := range map[string]Audit{
		"":                                  {},
		"audit {}":                          {},
		"audit {\n enabled = false\n}":      {Disabled: true},
		"audit {\n files = 3\n}":            {Files: 3},
		"audit {\n file_mb = 1000\n}":       {FileMB: 1000},
		"audit {\n enabled = true\n}":       {},
		"audit {\n files = 2\nfile_mb=1\n}": {Files: 2, FileMB: 1},
	} {
		if c, err := load(text); err != nil || c.Audit != want {
			t.Errorf("%q: %+v, %v; want %+v", text, c.Audit, err, want)
		}
	}
	for text, want := range map[string]string{
		"files = 1": "from 2 to 1000", "files = 1001": "from 2 to 1000", "file_mb = 0": "from 1 to 1000", "file_mb = 99999": "from 1 to 1000",
		"filez = 1": "agent.hcl:2:1: Unsupported argument", "files = 2.5": "agent.hcl:2",
	} {
		if _, err := load("audit {\n" + text + "\n}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
