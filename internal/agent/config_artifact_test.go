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

	"github.com/reeve-run/reeve/internal/node/artifact"
)

func loadArtifact(t *testing.T, body string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(file, []byte("client {\n artifact {\n"+body+"\n }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig([]string{file})
}

func TestArtifactBlockIsRead(t *testing.T) {
	c, err := loadArtifact(t, `
		http_read_timeout = "5m"
		git_timeout = "1h"
		s3_timeout = "10m"
		stall_timeout = "30s"
		http_max_size = "2GB"
		decompression_size_limit = "3GiB"
		decompression_file_count_limit = 7
		cache_size = "1GiB"
		set_environment_variables = "HTTPS_PROXY, NO_PROXY"
		filesystem_isolation_extra_paths = ["d:rx:/opt/git", "/srv/ca.pem"]
		disable_filesystem_isolation = true`)
	if err != nil {
		t.Fatal(err)
	}
	want := artifact.Config{
		CacheBytes: 1 << 30, S3Timeout: 10 * time.Minute, GitTimeout: time.Hour, Environment: []string{"HTTPS_PROXY", "NO_PROXY"},
		ExtraPaths: []string{"/opt/git", "/srv/ca.pem"}, Open: true,
		Limits: artifact.Limits{Download: 2e9, Unpacked: 3 << 30, Files: 7, Timeout: 5 * time.Minute, Stall: 30 * time.Second},
	}
	if d := cmp.Diff(want, c.Client.Artifact); d != "" {
		t.Error(d)
	}
}

func TestWrongArtifactSettingsAreRefused(t *testing.T) {
	for _, body := range []string{
		`http_read_timeout = "0s"`, `stall_timeout = "x"`, `http_max_size = "-1"`, `http_max_size = "9223372036854775807"`, `cache_size = "5 apples"`, `cache_size = "9000000TiB"`,
		`decompression_file_count_limit = 0`, `filesystem_isolation_extra_paths = ["d:rwx:/x"]`, `filesystem_isolation_extra_paths = ["x"]`, `filesystem_isolation_extra_paths = ["/"]`,
	} {
		name, _, _ := strings.Cut(body, " ")
		if _, err := loadArtifact(t, body); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", body, err)
		}
	}
}
