// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
)

// A machine is what the driver found on the node.
type machine struct {
	runtime  string // absolute path of runc
	version  string
	stage    string   // see oci.Spec
	root     string   // see oci.Spec
	users    bool     // user namespaces work
	caps     []string // the agent's capabilities
	queues   bool     // the node has /dev/mqueue
	warnings []string
}

// Fingerprint looks for runc, and mounts a container's root once to find out what the kernel can
// do.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	s := &api.DriverStatus{Attributes: map[string]string{}, UpdateTime: time.Now()}
	m, err := d.probe(ctx)
	if err != nil {
		s.HealthDescription = err.Error()
		return s
	}
	s.Detected, s.Healthy = true, true
	s.HealthDescription = strings.Join(append([]string{"Healthy"}, m.warnings...), "; ")
	s.Attributes["driver.container"] = "1"
	s.Attributes["driver.container.runtime"] = "runc"
	s.Attributes["driver.container.runtime_version"] = m.version
	s.Attributes["driver.container.userns"] = strconv.FormatBool(m.users)
	if m.users {
		s.Attributes[api.NodeAttrLowestPort(api.DriverContainer)] = strconv.Itoa(lowestPort())
	}
	if len(m.warnings) > 0 {
		s.Attributes[api.DriverWarning("container")] = strings.Join(m.warnings, "; ")
	}
	if d.cfg.AllowPrivileged {
		s.Attributes["driver.container.privileged.enabled"] = "1"
	}
	if d.cfg.Volumes {
		s.Attributes["driver.container.volumes.enabled"] = "1"
	}
	return s
}

// lowestPort returns the lowest port of the node's network that containers with user namespaces may
// listen on.
func lowestPort() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if err != nil {
		return api.UnprivilegedPorts
	}
	lowest, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return api.UnprivilegedPorts
	}
	return lowest
}

// probe returns the result of the first successful probe. A failed one is repeated, because an
// operator may have installed runc meanwhile.
func (d *Driver) probe(ctx context.Context) (*machine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine != nil {
		return d.machine, nil
	}
	if d.broken != nil {
		return nil, d.broken
	}
	if d.c.Machine().CgroupVersion == cgroup.None {
		return nil, errors.New("the container driver needs control groups, and none can be written on this node")
	}
	m, err := d.look(ctx)
	if err != nil {
		return nil, err
	}
	d.machine = m
	return m, nil
}

func (d *Driver) look(ctx context.Context) (*machine, error) {
	m := &machine{caps: isolate.HeldCapabilities()}
	var err error
	name := d.cfg.Runtime
	if name == "" {
		name = "runc"
	}
	if m.runtime, err = FindRuntime(name); err != nil {
		return nil, err
	}
	if m.version, err = runtimeVersion(ctx, m.runtime); err != nil {
		return nil, err
	}
	if why := oldRuntime(m.version); why != "" {
		m.warnings = append(m.warnings, why)
	}
	if m.stage, m.root, err = oci.Stages(d.c.Dir(), m.runtime, d.cfg.ImageDir); err != nil {
		return nil, err
	}
	_, err = os.Stat("/dev/mqueue")
	m.queues = err == nil
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(d.c.Dir(), "probe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p := oci.Probe{Exe: exe, Idle: step.Idle, Dir: dir, Stage: m.stage, Root: m.root}
	if d.cfg.HostUsers {
		return m, p.Run()
	}
	p.IDs = &d.cfg.IDs
	if err := p.Run(); err == nil {
		m.users = true
		return m, nil
	} else {
		m.warnings = append(m.warnings, "containers have no user namespaces: "+err.Error())
	}
	p.IDs = nil
	if err := p.Run(); err != nil {
		return nil, fmt.Errorf("the kernel cannot mount the root of a container: %w", err)
	}
	return m, nil
}

// FindRuntime looks for runc also where a service manager's PATH may not lead.
func FindRuntime(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return filepath.Abs(path)
		}
		if strings.Contains(name, "/") {
			break
		}
	}
	return "", fmt.Errorf("%s is not installed: apt-get install runc, and restart the agent", name)
}

var versionPattern = regexp.MustCompile(`(?m)^runc version ([0-9]+)\.([0-9]+)\.([0-9]+)\S*`)

func runtimeVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	found := versionPattern.FindString(string(out))
	if found == "" {
		return "", fmt.Errorf("%s is not runc: it calls its version %.60q", path, out)
	}
	return strings.TrimPrefix(found, "runc version "), nil
}

// oldRuntime warns about versions without fixes of holes through which a container escapes.
// Distributions may have backported them.
func oldRuntime(version string) string {
	part := versionPattern.FindStringSubmatch("runc version " + version)
	if part == nil {
		return ""
	}
	major, _ := strconv.Atoi(part[1])
	minor, _ := strconv.Atoi(part[2])
	patch, _ := strconv.Atoi(part[3])
	fixed := map[int]int{2: 8, 3: 6, 4: 3} // patch of 1.minor
	old := major < 1 || major == 1 && (minor < 2 || minor < 5 && patch < fixed[minor])
	if !old {
		return ""
	}
	return fmt.Sprintf("runc %s is older than the fixes of 1.3.6, 1.4.3 and 1.5.0 for escapes from containers: update it, unless the distribution has backported them", version)
}
