// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package java

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Fingerprint runs the node's Java as a task would, and publishes its version. It runs it again when
// another Java is installed.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	var r runtime
	return d.tool.Status(ctx, d.exec, func() (path string, err error) {
		r, err = find()
		return r.program, err
	}, func(ctx context.Context) *api.DriverStatus { return d.try(ctx, r) })
}

func (d *Driver) try(ctx context.Context, r runtime) *api.DriverStatus {
	s := &api.DriverStatus{Detected: true, Attributes: map[string]string{}, UpdateTime: time.Now()}
	text, exit, err := d.exec.Probe(ctx, map[string]any{"command": r.program, "args": []string{"-version"}}, r.mounts())
	v := parseVersion(text)
	switch {
	case err != nil:
		s.HealthDescription = fmt.Sprintf("%s -version does not run: %v", r.program, err)
	case exit.Code != 0:
		s.HealthDescription = fmt.Sprintf("%s -version exits with %d: %s", r.program, exit.Code, v.first)
	case v.version == "":
		s.HealthDescription = fmt.Sprintf("%s -version names no version: %q", r.program, v.first)
	default:
		s.Healthy, s.HealthDescription = true, "Healthy, with Java "+v.version
		s.Attributes["driver.java"], s.Attributes["driver.java.version"] = "1", v.version
		s.Attributes["driver.java.runtime"], s.Attributes["driver.java.vm"] = v.runtime, v.vm
	}
	return s
}

// A version is what java -version prints.
type version struct{ first, version, runtime, vm string }

// parseVersion reads three lines: the version in quotes, the runtime, and the machine. The variables of the
// runtime may cause further lines before.
func parseVersion(text string) version {
	var v version
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = shown(line)
		if v.first == "" {
			v.first = line
		}
		_, quoted, ok := strings.Cut(line, ` version "`)
		number, _, closed := strings.Cut(quoted, `"`)
		if !ok || !closed || number == "" {
			continue
		}
		v.version = number
		if i+2 < len(lines) {
			v.runtime, v.vm = shown(lines[i+1]), shown(lines[i+2])
		}
		break
	}
	return v
}

// shown bounds a line that a node publishes.
func shown(line string) string { return strings.TrimSpace(api.Printable(line, 200)) }
