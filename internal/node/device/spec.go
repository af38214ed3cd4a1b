// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/sys/unix"
)

// DefaultSpecDirs are where tools write CDI specifications.
var DefaultSpecDirs = []string{"/etc/cdi", "/var/run/cdi"}

// Bounds of specifications.
const (
	maxFile    = 1 << 20
	maxFiles   = 256 // of a directory
	maxDevices = 1024
	maxEdits   = 1024 // nodes, mounts and variables of a device
)

// A cdiSpec is the content of a file.
type cdiSpec struct {
	Version string      `json:"cdiVersion"`
	Kind    string      `json:"kind"`
	Edits   cdiEdits    `json:"containerEdits"`
	Devices []cdiDevice `json:"devices"`
}

type cdiDevice struct {
	Name  string   `json:"name"`
	Edits cdiEdits `json:"containerEdits"`
}

type cdiEdits struct {
	Env         []string          `json:"env"`
	DeviceNodes []cdiNode         `json:"deviceNodes"`
	Mounts      []cdiMount        `json:"mounts"`
	Hooks       []cdiHook         `json:"hooks"`
	NetDevices  []json.RawMessage `json:"netDevices"`
	GIDs        []json.RawMessage `json:"additionalGIDs"`
	IntelRDT    json.RawMessage   `json:"intelRdt"`
}

type cdiNode struct {
	Path        string `json:"path"`
	HostPath    string `json:"hostPath"`
	Permissions string `json:"permissions"`
}

type cdiMount struct {
	HostPath      string   `json:"hostPath"`
	ContainerPath string   `json:"containerPath"`
	Type          string   `json:"type"`
	Options       []string `json:"options"`
}

type cdiHook struct {
	Name string `json:"hookName"`
	Path string `json:"path"`
}

var (
	kindForm    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,126}/[A-Za-z][A-Za-z0-9_-]{0,62}$`)
	deviceForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$`)
	versionForm = regexp.MustCompile(`^v?(0\.[3-9]|1\.[0-9]+)\.[0-9]+$`)
)

// IsKind reports whether a text names a kind of devices, as "vendor.com/class".
func IsKind(text string) bool { return kindForm.MatchString(text) && !strings.Contains(text, "..") }

// listSpecs returns the specification files of a directory, sorted.
func listSpecs(dir string) (files []string, problem error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(e.Name())) && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) > maxFiles {
		return files[:maxFiles], fmt.Errorf("the directory has %d specifications: at most %d are read", len(files), maxFiles)
	}
	return files, nil
}

// readSpec reads a file that only root and the agent's user can change. It waits for nobody.
func readSpec(file string) (*cdiSpec, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a symbolic link: put the file itself there")
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errors.New("it is not a regular file")
	case st.Uid != 0 && int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0:
		return nil, errors.New("other users can change it: give it to root, with mode 0644")
	case st.Size > maxFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return parseSpec(data, filepath.Ext(file) != ".json")
}

func parseSpec(data []byte, isYAML bool) (*cdiSpec, error) {
	if isYAML {
		// Aliases multiply what a small file says; no tool writes them.
		if strings.ContainsAny(string(data), "&*") {
			return nil, errors.New("it has the signs & or * of YAML's anchors and aliases: write JSON")
		}
		text, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, errors.New("it is not valid YAML")
		}
		data = text
	}
	var s cdiSpec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("it is not a specification: %w", err)
	}
	switch {
	case !versionForm.MatchString(s.Version):
		return nil, fmt.Errorf("cdiVersion %q: must be from 0.3.0 to 1.x", short(s.Version))
	case !IsKind(s.Kind):
		return nil, fmt.Errorf("kind %q: must be a vendor and a class, as in vendor.com/class", short(s.Kind))
	case len(s.Devices) == 0:
		return nil, errors.New("it has no devices")
	case len(s.Devices) > maxDevices:
		return nil, fmt.Errorf("it has %d devices: at most %d are possible", len(s.Devices), maxDevices)
	}
	seen := map[string]bool{}
	for _, d := range s.Devices {
		if !deviceForm.MatchString(d.Name) || seen[d.Name] {
			return nil, fmt.Errorf("the device name %q is not valid, or is given twice", short(d.Name))
		}
		seen[d.Name] = true
	}
	return &s, nil
}
