// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// Directories that are searched unless the agent's configuration names others.
var (
	DefaultConfigDirs  = []string{"/opt/cni/config", "/etc/cni/net.d"}
	DefaultPluginPaths = []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}
)

// Bounds of a configuration.
const (
	maxFile    = 1 << 20
	maxFiles   = 256 // of a directory
	maxPlugins = 32  // of a network
	maxBroken  = 4   // of files that an error names
)

// versions are the versions of the specification, from old to new.
var versions = []string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}

const defaultVersion = "0.1.0" // of a configuration without one, by the specification

// A Network is the configuration of a network: a chain of plugins.
type Network struct {
	Name    string
	Version string // one of versions
	File    string
	Plugins []json.RawMessage
}

// A pluginConfig is the part of a plugin's configuration that this package reads.
type pluginConfig struct {
	Type         string          `json:"type"`
	Capabilities map[string]bool `json:"capabilities"`
	IPAM         struct {
		Type string `json:"type"`
	} `json:"ipam"`
}

// A fileConfig is a file's content: a list of plugins, or a single one.
type fileConfig struct {
	Name     string            `json:"name"`
	Version  string            `json:"cniVersion"`
	Versions []string          `json:"cniVersions"`
	Type     string            `json:"type"`
	Plugins  []json.RawMessage `json:"plugins"`
}

// A Finding is a network of a directory, or a file without a usable one.
type Finding struct {
	Network *Network // nil: Err says why
	File    string
	Err     error
}

// List reads all configurations of the directories, in the order in which Find chooses: lists before
// single plugins, by the names of their files. A directory that does not exist has none.
func List(dirs []string) (found []Finding) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				found = append(found, Finding{File: dir, Err: err})
			}
			continue
		}
		for _, lists := range []bool{true, false} {
			for _, e := range entries {
				ext := filepath.Ext(e.Name())
				if lists != (ext == ".conflist") || ext != ".conflist" && ext != ".conf" && ext != ".json" {
					continue
				}
				if len(found) == maxFiles {
					return append(found, Finding{File: dir, Err: fmt.Errorf("%s has more than %d CNI configurations: the agent does not read the others; remove some", dir, maxFiles)})
				}
				f := Finding{File: filepath.Join(dir, e.Name())}
				f.Network, f.Err = readFile(f.File)
				found = append(found, f)
			}
		}
	}
	return found
}

// Find reads the network with a name.
func Find(dirs []string, name string) (*Network, error) {
	if !api.IsCNIName(name) {
		return nil, fmt.Errorf("%q is no name of a CNI network", api.Printable(name, 64))
	}
	text := fmt.Sprintf("no file in %s configures the CNI network %s: install its configuration there, or correct cni_config_dir", strings.Join(dirs, " and "), name)
	broken := 0
	for _, f := range List(dirs) {
		switch {
		case f.Err != nil:
			if broken++; broken <= maxBroken {
				text += "; " + api.Printable(f.Err.Error(), maxMessage)
			}
		case f.Network.Name == name:
			return f.Network, nil
		}
	}
	return nil, errors.New(text)
}

// readFile reads a regular file of bounded size.
func readFile(path string) (*Network, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("CNI configuration %s is no regular file: replace it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read CNI configuration %s: %w", path, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("CNI configuration %s is larger than %d bytes: shorten it", path, maxFile)
	}
	return parse(path, text)
}

// parse reads a configuration.
func parse(path string, text []byte) (*Network, error) {
	path = api.Printable(path, 255)
	fail := func(format string, args ...any) (*Network, error) {
		return nil, fmt.Errorf("CNI configuration %s: "+format, append([]any{path}, args...)...)
	}
	var c fileConfig
	if err := json.Unmarshal(text, &c); err != nil {
		return fail("it is no valid JSON: %s", api.Printable(err.Error(), 200))
	}
	if c.Plugins == nil {
		if c.Type == "" {
			return fail("it has neither plugins nor type: add one of them")
		}
		c.Plugins = []json.RawMessage{text}
	}
	n := &Network{Name: c.Name, File: path, Plugins: c.Plugins}
	switch {
	case !api.IsCNIName(c.Name):
		return fail("name %q: must be 1 to 64 letters, digits, -, _ and ., and begin with a letter or a digit", api.Printable(c.Name, 64))
	case len(c.Plugins) == 0 || len(c.Plugins) > maxPlugins:
		return fail("it has %d plugins: must be 1 to %d", len(c.Plugins), maxPlugins)
	}
	if n.Version = newest(c.Version, c.Versions); n.Version == "" {
		return fail("cniVersion %q is not supported: use one of %s", api.Printable(c.Version, 32), strings.Join(versions, ", "))
	}
	for i, raw := range n.Plugins {
		p, err := plugin(raw)
		if err != nil {
			return fail("plugin %d: %s", i+1, api.Printable(err.Error(), 200))
		}
		if !isPluginName(p.Type) || p.IPAM.Type != "" && !isPluginName(p.IPAM.Type) {
			return fail("plugin %d: type %q: must be the name of a program in cni_path", i+1, api.Printable(p.Type+" "+p.IPAM.Type, 64))
		}
	}
	return n, nil
}

// newest returns the newest version that a configuration offers and this package knows.
func newest(one string, several []string) string {
	for _, v := range slices.Backward(versions) {
		if slices.Contains(several, v) || v == one {
			return v
		}
	}
	if one == "" && len(several) == 0 {
		return defaultVersion
	}
	return ""
}

// atLeast reports whether a known version is not older than another one.
func atLeast(v, other string) bool { return slices.Index(versions, v) >= slices.Index(versions, other) }

func plugin(raw json.RawMessage) (c pluginConfig, err error) {
	err = json.Unmarshal(raw, &c)
	return c, err
}

// isPluginName reports whether a type can be the name of a program, without a path.
func isPluginName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.ContainsAny(s, "/:\x00")
}

// Programs returns the types of all plugins of the network, and of those that they call for
// addresses, each once.
func (n *Network) Programs() (types []string) {
	for _, raw := range n.Plugins {
		p, _ := plugin(raw)
		for _, t := range []string{p.Type, p.IPAM.Type} {
			if t != "" && !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

// Locate returns the path of a plugin; "" if no directory has it.
func Locate(paths []string, plugin string) string {
	if !isPluginName(plugin) {
		return ""
	}
	for _, dir := range paths {
		path := filepath.Join(dir, plugin)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// Missing returns why the network's plugins cannot run; nil if all exist.
func (n *Network) Missing(paths []string) error {
	var absent []string
	for _, t := range n.Programs() {
		if Locate(paths, t) == "" {
			absent = append(absent, t)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return fmt.Errorf("CNI network %s of %s: no directory of cni_path (%s) has the plugin %s: install it, for example with Debian's package containernetworking-plugins",
		n.Name, n.File, strings.Join(paths, ":"), api.Printable(strings.Join(absent, ", "), 200))
}
