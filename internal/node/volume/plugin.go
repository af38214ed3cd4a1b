// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A plugin is an executable of the operator in the directory of plugins. It gets its operation as
// argument and in variables DHV_*, and answers on standard output. Its answer is not trusted.
const (
	fingerprintTime = 5 * time.Second
	operationTime   = time.Minute
	killTime        = 2 * time.Second // for processes that a plugin leaves behind
	maxOutput       = 64 << 10
	mkdirVersion    = "1.0.0"
)

// An answer is the output of a plugin.
type answer struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Error   string `json:"error"`
}

func (k *Keeper) runCreate(ctx context.Context, v *api.HostVolume) (outcome, error) {
	a, err := k.run(ctx, v, "create", "", operationTime)
	if err != nil {
		return outcome{}, err
	}
	path := filepath.Clean(a.Path)
	resolved, err := filepath.EvalSymlinks(path)
	switch {
	case a.Path == "":
		return outcome{}, fmt.Errorf("plugin %s returned no path", v.PluginID)
	case !filepath.IsAbs(path) || path == k.config.Dir || !isBelow(path, k.config.Dir):
		return outcome{}, fmt.Errorf("plugin %s returned path %.200q, which is not in the directory of volumes, %s", v.PluginID, a.Path, k.config.Dir)
	case err != nil || resolved != path:
		return outcome{}, fmt.Errorf("plugin %s returned path %.200q, which does not exist or contains a symbolic link", v.PluginID, a.Path)
	case a.Bytes < 0:
		return outcome{}, fmt.Errorf("plugin %s returned %d bytes", v.PluginID, a.Bytes)
	}
	return outcome{path: path, bytes: a.Bytes}, checkDir(path)
}

func (k *Keeper) runDelete(ctx context.Context, v *api.HostVolume, path string) error {
	_, err := k.run(ctx, v, "delete", path, operationTime)
	return err
}

// find returns the path of a plugin.
func (k *Keeper) find(plugin string) (string, error) {
	if !api.IsPluginName(plugin) {
		return "", fmt.Errorf("%.64q is not the name of a plugin", plugin)
	}
	path := filepath.Join(k.config.Plugins, plugin)
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return "", fmt.Errorf("plugin %s is not an executable in %s: install it there", plugin, k.config.Plugins)
	}
	return path, nil
}

func (k *Keeper) run(ctx context.Context, v *api.HostVolume, operation, created string, limit time.Duration) (*answer, error) {
	path, err := k.find(v.PluginID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, operation)
	cmd.Dir = k.config.Plugins
	cmd.Env = k.environment(v, operation, created)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killTime
	out, complaints := &bounded{left: maxOutput}, &bounded{left: maxOutput}
	cmd.Stdout, cmd.Stderr = out, complaints
	err = cmd.Run()
	a := new(answer)
	parsed := json.Unmarshal(bytes.TrimSpace(out.text), a)
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, fmt.Errorf("plugin %s did not %s the volume within %s", v.PluginID, operation, limit)
	case out.left < 0, complaints.left < 0:
		return nil, fmt.Errorf("plugin %s wrote more than %d bytes", v.PluginID, maxOutput)
	case parsed == nil && a.Error != "":
		return nil, fmt.Errorf("plugin %s: %s", v.PluginID, api.Printable(a.Error, 300))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("plugin %s cannot %s the volume: %w: %s", v.PluginID, operation, err, api.Printable(strings.TrimSpace(string(complaints.text)), 300))
	case operation == "delete" && len(out.text) == 0:
		return a, nil
	case parsed != nil:
		return nil, fmt.Errorf("plugin %s answered %q, which is not JSON: %w", v.PluginID, api.Printable(string(out.text), 100), parsed)
	}
	return a, nil
}

func (k *Keeper) environment(v *api.HostVolume, operation, created string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "DHV_OPERATION=" + operation, "DHV_VOLUMES_DIR=" + k.config.Dir, "DHV_PLUGIN_DIR=" + k.config.Plugins,
		"DHV_NODE_ID=" + k.config.NodeID, "DHV_NODE_POOL=" + k.config.Pool,
	}
	if operation == "fingerprint" {
		return env
	}
	parameters, err := json.Marshal(v.Parameters)
	if err != nil || v.Parameters == nil {
		parameters = []byte("{}")
	}
	env = append(env, "DHV_NAMESPACE="+v.Namespace, "DHV_VOLUME_NAME="+v.Name, "DHV_VOLUME_ID="+v.ID, "DHV_PARAMETERS="+string(parameters),
		"DHV_CAPACITY_MIN_BYTES="+strconv.FormatInt(v.RequestedCapacityMinBytes, 10), "DHV_CAPACITY_MAX_BYTES="+strconv.FormatInt(v.RequestedCapacityMaxBytes, 10))
	if operation == "delete" {
		env = append(env, "DHV_CREATED_PATH="+created)
	}
	return env
}

// Fingerprint returns the attributes of the node's plugins: their versions.
func (k *Keeper) Fingerprint(ctx context.Context) map[string]string {
	found := map[string]string{api.VolumePluginAttribute(api.PluginMkdir): mkdirVersion}
	entries, _ := os.ReadDir(k.config.Plugins)
	for _, e := range entries {
		if _, err := k.find(e.Name()); err != nil || e.Name() == api.PluginMkdir {
			continue
		}
		a, err := k.run(ctx, &api.HostVolume{PluginID: e.Name()}, "fingerprint", "", fingerprintTime)
		if err != nil || a.Version == "" || len(a.Version) > 64 {
			k.config.Logger.Warn("a plugin of host volumes does not work", "plugin", e.Name(), "error", err)
			continue
		}
		found[api.VolumePluginAttribute(e.Name())] = api.Printable(a.Version, 64)
	}
	return found
}

// bounded is a buffer that takes only so many bytes. left is below 0 if there were more.
type bounded struct {
	text []byte
	left int
}

var errTooLong = errors.New("the output is too long")

// Write implements io.Writer. Its error closes the pipe, which ends a plugin that writes without end.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left < len(p) {
		b.left = -1
		return 0, errTooLong
	}
	b.text = append(b.text, p...)
	b.left -= len(p)
	return len(p), nil
}
