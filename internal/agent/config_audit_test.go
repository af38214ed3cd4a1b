// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		if c, err := load(text); err != nil || !cmp.Equal(c.Audit, want) {
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

func TestTheConfigurationOfAuditSinks(t *testing.T) {
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadConfig([]string{path})
	}
	c, err := load(`audit {
		sink "local" {
			type             = "file"
			path             = "/var/log/reeve/audit.log"
			rotate_bytes     = 0
			rotate_max_files = 3
		}
		sink "siem" {
			type        = "http"
			url         = "https://siem.example.com/reeve"
			ca_file     = "/etc/reeve/siem.pem"
			header_file = "/etc/reeve/siem.headers"
			timeout     = "5s"
		}
	}`)
	want := Audit{Sinks: []AuditSink{
		{Name: "local", Type: "file", Path: "/var/log/reeve/audit.log", RotateBytes: -1, RotateMaxFiles: 3},
		{Name: "siem", Type: "http", URL: "https://siem.example.com/reeve", CAFile: "/etc/reeve/siem.pem", HeaderFile: "/etc/reeve/siem.headers", Timeout: 5 * time.Second},
	}}
	if d := cmp.Diff(c.Audit, want); err != nil || d != "" {
		t.Errorf("%v (-got +want)\n%s", err, d)
	}
	for text, want := range map[string]string{
		`sink "../x" {` + "\ntype = \"file\"\npath = \"/x\"\n}":                        "lower-case letters",
		`sink "a" {` + "\ntype = \"syslog\"\n}":                                        `type = "syslog": must be "file" or "http"`,
		`sink "a" {` + "\n}":                                                           "agent.hcl:2",
		`sink "a" {` + "\ntype = \"file\"\npath = \"audit.log\"\n}":                    "absolute path",
		`sink "a" {` + "\ntype = \"file\"\npath = \"/x\"\nrotate_bytes = 5\n}":         "at least 1048576",
		`sink "a" {` + "\ntype = \"file\"\npath = \"/x\"\nrotate_max_files = 0\n}":     "from 1 to 1000",
		`sink "a" {` + "\ntype = \"file\"\npath = \"/x\"\nurl = \"https://x\"\n}":      `settings of the type "http"`,
		`sink "a" {` + "\ntype = \"http\"\npath = \"/x\"\n}":                           `settings of the type "file"`,
		`sink "a" {` + "\ntype = \"http\"\n}":                                          "needs url",
		`sink "a" {` + "\ntype = \"http\"\nurl = \"https://x\"\ntimeout = \"1h\"\n}":   "from 1s to 5m0s",
		`sink "a" {` + "\ntype = \"http\"\nurl = \"https://x\"\ntimeout = \"soon\"\n}": "from 1s to 5m0s",
	} {
		if _, err := load("audit {\n" + text + "\n}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
