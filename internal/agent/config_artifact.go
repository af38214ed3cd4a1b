// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/node/artifact"
)

type fileArtifact struct {
	HTTPReadTimeout string   `hcl:"http_read_timeout,optional"`
	S3Timeout       string   `hcl:"s3_timeout,optional"`
	GitTimeout      string   `hcl:"git_timeout,optional"`
	StallTimeout    string   `hcl:"stall_timeout,optional"`
	HTTPMaxSize     string   `hcl:"http_max_size,optional"`
	UnpackedSize    string   `hcl:"decompression_size_limit,optional"`
	FileCount       *int64   `hcl:"decompression_file_count_limit,optional"`
	CacheSize       string   `hcl:"cache_size,optional"`
	Environment     string   `hcl:"set_environment_variables,optional"`
	ExtraPaths      []string `hcl:"filesystem_isolation_extra_paths,optional"`
	Open            *bool    `hcl:"disable_filesystem_isolation,optional"`
}

// Bounds of the settings.
const (
	maxArtifactTimeout = 24 * time.Hour
	maxArtifactBytes   = 1 << 40
	maxArtifactFiles   = 10_000_000
)

// mergeArtifact overrides the settings that a file contains.
func mergeArtifact(c *artifact.Config, f *fileArtifact) error {
	if f == nil {
		return nil
	}
	for _, d := range []struct {
		name, text string
		into       *time.Duration
	}{
		{"http_read_timeout", f.HTTPReadTimeout, &c.Limits.Timeout}, {"s3_timeout", f.S3Timeout, &c.S3Timeout},
		{"git_timeout", f.GitTimeout, &c.GitTimeout}, {"stall_timeout", f.StallTimeout, &c.Limits.Stall},
	} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil || v < time.Second || v > maxArtifactTimeout {
			return fmt.Errorf("artifact: %s = %q: must be a duration from 1s to 24h", d.name, d.text)
		}
		*d.into = v
	}
	for _, s := range []struct {
		name, text string
		into       *int64
	}{
		{"http_max_size", f.HTTPMaxSize, &c.Limits.Download}, {"decompression_size_limit", f.UnpackedSize, &c.Limits.Unpacked},
		{"cache_size", f.CacheSize, &c.CacheBytes},
	} {
		if s.text == "" {
			continue
		}
		v, ok := parseBytes(s.text)
		if !ok || v < 1 || v > maxArtifactBytes {
			return fmt.Errorf("artifact: %s = %q: must be a size such as \"500MB\" or \"4GiB\", at most 1TiB", s.name, s.text)
		}
		*s.into = v
	}
	if n := f.FileCount; n != nil {
		if *n < 1 || *n > maxArtifactFiles {
			return fmt.Errorf("artifact: decompression_file_count_limit = %d: must be from 1 to %d", *n, maxArtifactFiles)
		}
		c.Limits.Files = *n
	}
	if f.Environment != "" {
		c.Environment = nil
		for name := range strings.SplitSeq(f.Environment, ",") {
			c.Environment = append(c.Environment, strings.TrimSpace(name))
		}
	}
	if f.ExtraPaths != nil {
		c.ExtraPaths = nil
	}
	for _, text := range f.ExtraPaths {
		path, err := extraPath(text)
		if err != nil {
			return err
		}
		c.ExtraPaths = append(c.ExtraPaths, path)
	}
	if f.Open != nil {
		c.Open = *f.Open
	}
	return nil
}

// extraPath reads a path, with or without the kind and the rights that Nomad expects before it, as in
// "d:rx:/opt/git".
func extraPath(text string) (string, error) {
	path := text
	if parts := strings.SplitN(text, ":", 3); len(parts) == 3 && (parts[0] == "d" || parts[0] == "f") {
		if strings.Trim(parts[1], "rx") != "" {
			return "", fmt.Errorf("artifact: filesystem_isolation_extra_paths: %q: only the rights r and x are possible", text)
		}
		path = parts[2]
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return "", fmt.Errorf("artifact: filesystem_isolation_extra_paths: %q: must be an absolute path, as in \"/opt/git\"", text)
	}
	return path, nil
}

// parseBytes reads a size with a decimal or binary unit.
func parseBytes(text string) (int64, bool) {
	digits := strings.TrimRight(text, "KMGTiBkb ")
	unit := strings.TrimSpace(text[len(digits):])
	factors := map[string]int64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
	n, err := strconv.ParseInt(digits, 10, 64)
	factor, ok := factors[unit]
	if err != nil || !ok || n < 0 || n > maxArtifactBytes {
		return 0, false
	}
	return n * min(factor, maxArtifactBytes), n <= maxArtifactBytes/factor
}
