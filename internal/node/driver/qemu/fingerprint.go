// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package qemu

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/program"
)

// find looks for an emulator in the agent's search path.
func find(name string) (string, error) {
	path, err := program.Look(name, os.Getenv("PATH"))
	if err != nil {
		return "", fmt.Errorf("no emulator: %w; install one, such as Debian's %s", err, packageOf(name))
	}
	return path, nil
}

// packageOf returns the Debian package with an emulator.
func packageOf(emulator string) string {
	switch strings.TrimPrefix(emulator, "qemu-system-") {
	case "x86_64", "i386":
		return "qemu-system-x86"
	case "aarch64", "arm":
		return "qemu-system-arm"
	}
	return "qemu-system-misc"
}

// Fingerprint runs the node's default emulator as a task would, and publishes its version. It runs it again when another
// one is installed.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	var path string
	s := d.tool.Status(ctx, d.exec, func() (_ string, err error) {
		path, err = find(defaultEmulator())
		return path, err
	}, func(ctx context.Context) *api.DriverStatus { return d.try(ctx, path) })
	f, err := os.OpenFile(d.kvm, os.O_RDWR, 0)
	if err != nil || !s.Healthy {
		return s
	}
	f.Close()
	with := *s
	with.Attributes = maps.Clone(s.Attributes)
	with.Attributes["driver.qemu.kvm"] = "1"
	return &with
}

var versionPattern = regexp.MustCompile(`QEMU emulator version ([0-9][0-9A-Za-z.~+-]*)`)

func (d *Driver) try(ctx context.Context, path string) *api.DriverStatus {
	s := &api.DriverStatus{Detected: true, Attributes: map[string]string{}, UpdateTime: time.Now()}
	text, exit, err := d.exec.Probe(ctx, map[string]any{"command": path, "args": []string{"--version"}}, nil)
	found := versionPattern.FindStringSubmatch(text)
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case err != nil:
		s.HealthDescription = fmt.Sprintf("%s --version does not run: %v", path, err)
	case exit.Code != 0:
		s.HealthDescription = fmt.Sprintf("%s --version exits with %d: %s", path, exit.Code, api.Printable(first, 200))
	case found == nil:
		s.HealthDescription = fmt.Sprintf("%s --version names no version: %q", path, api.Printable(first, 200))
	default:
		s.Healthy, s.HealthDescription = true, "Healthy, with QEMU "+found[1]
		s.Attributes["driver.qemu"], s.Attributes["driver.qemu.version"] = "1", found[1]
	}
	return s
}
