// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHostileSpecificationsAreSkipped puts specifications beside a good one: only their own devices are missing.
func TestHostileSpecificationsAreSkipped(t *testing.T) {
	device := func(edits string) string {
		return `{"cdiVersion": "0.6.0", "kind": "evil.com/c", "devices": [{"name": "d", "containerEdits": {` + edits + `}}]}`
	}
	mount := func(from, to string) string {
		return device(fmt.Sprintf(`"mounts": [{"hostPath": %q, "containerPath": %q}]`, from, to))
	}
	private := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(private, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"not-json":      {"{", "not a specification"},
		"empty":         {"", "not a specification"},
		"other-types":   {`{"devices": 7}`, "not a specification"},
		"deep":          {strings.Repeat("[", 100_000), "not a specification"},
		"version":       {`{"cdiVersion": "9.0.0", "kind": "evil.com/c", "devices": [{"name": "d"}]}`, "cdiVersion"},
		"kind":          {`{"cdiVersion": "0.6.0", "kind": "../../etc", "devices": [{"name": "d"}]}`, "kind"},
		"no-devices":    {`{"cdiVersion": "0.6.0", "kind": "evil.com/c"}`, "no devices"},
		"name":          {`{"cdiVersion": "0.6.0", "kind": "evil.com/c", "devices": [{"name": "a,b\u001b[2J"}]}`, "device name"},
		"twice":         {`{"cdiVersion": "0.6.0", "kind": "evil.com/c", "devices": [{"name": "d"}, {"name": "d"}]}`, "given twice"},
		"dots":          {device(`"deviceNodes": [{"path": "/dev/../etc/shadow"}]`), "without .."},
		"relative":      {device(`"deviceNodes": [{"path": "dev/null"}]`), "must be absolute"},
		"outside":       {device(`"deviceNodes": [{"path": "/etc/x", "hostPath": "/dev/null"}]`), "below /dev"},
		"permissions":   {device(`"deviceNodes": [{"path": "/dev/null", "permissions": "rwx"}]`), "permissions"},
		"env":           {device(`"env": ["PATH"]`), "NAME=value"},
		"root":          {mount("/", "/opt"), "not /"},
		"over-root":     {mount("/usr", "/"), "not /"},
		"over-secrets":  {mount("/usr", "/secrets/x"), "other files at /secrets"},
		"over-proc":     {mount("/usr", "/proc"), "other files at /proc"},
		"private":       {mount(private+"/alloc", "/opt"), "must not see"},
		"above-private": {mount(filepath.Dir(private), "/opt"), "must not see"},
		"link":          {mount(link, "/opt"), "must not see"},
		"mount-dots":    {mount("/usr/../etc", "/opt"), "without .."},
		"mount-type":    {device(`"mounts": [{"hostPath": "/usr", "containerPath": "/opt", "type": "overlay"}]`), "only bind mounts"},
		"many-edits":    {device(`"env": ["A=1"` + strings.Repeat(`, "A=1"`, maxEdits) + `]`), "more than"},
	} {
		dir := t.TempDir()
		write(t, dir, "good.json", gpus)
		write(t, dir, name+".json", c.text)
		s := Read(Config{SpecDirs: []string{dir}, Private: []string{private}})
		if got := problems(s); len(got) != 1 || !strings.HasPrefix(got[0], name) || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: the problems are %q; want %q", name, got, c.want)
		}
		if len(health(s)) != 2 {
			t.Errorf("%s: the devices are %q", name, health(s))
		}
	}
}

// TestFilesThatAreNoSpecificationsAreSkipped puts other objects in the place of a specification.
func TestFilesThatAreNoSpecificationsAreSkipped(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "spec")
	for name, c := range map[string]struct {
		plant func(path string) error
		want  string
	}{
		"link": {func(path string) error {
			os.WriteFile(elsewhere, []byte(gpus), 0o644)
			return os.Symlink(elsewhere, path)
		}, "symbolic link"},
		"pipe":      {func(path string) error { return unix.Mkfifo(path, 0o644) }, "not a regular file"},
		"directory": {func(path string) error { return os.Mkdir(path, 0o755) }, "not a regular file"},
		"endless":   {func(path string) error { return os.Symlink("/dev/zero", path) }, "symbolic link"},
		"huge":      {func(path string) error { os.WriteFile(path, nil, 0o644); return os.Truncate(path, 1<<40) }, "more than"},
		"writable":  {func(path string) error { os.WriteFile(path, []byte(gpus), 0o644); return os.Chmod(path, 0o666) }, "other users can change it"},
	} {
		dir := t.TempDir()
		if err := c.plant(filepath.Join(dir, name+".json")); err != nil {
			t.Fatal(err)
		}
		s := Read(Config{SpecDirs: []string{dir}})
		if got := problems(s); len(got) != 1 || !strings.Contains(got[0], c.want) || len(s.Groups) > 0 {
			t.Errorf("%s: the problems are %q, the devices %q; want %q", name, got, health(s), c.want)
		}
	}
	dir := t.TempDir()
	write(t, dir, "bomb.yaml", "a: &a [x,x]\nb: &b [*a,*a]\n")
	write(t, dir, "text.yml", "\t- : :")
	write(t, dir, "read.me", "no specification")
	if got := problems(Read(Config{SpecDirs: []string{dir, filepath.Join(dir, "read.me")}})); len(got) != 3 {
		t.Errorf("the problems are %q", got)
	}
}

func TestDevicesWithUnsupportedEditsAreNotHealthy(t *testing.T) {
	for edits, want := range map[string]string{
		`"hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook"}]`: "the hook createContainer (/usr/bin/nvidia-cdi-hook)",
		`"netDevices": [{"hostInterfaceName": "eth0", "name": "eth0"}]`:                  "netDevices",
		`"additionalGIDs": [44]`:      "additionalGIDs",
		`"intelRdt": {"closID": "x"}`: "intelRdt",
	} {
		dir := t.TempDir()
		write(t, dir, "a.json", `{"cdiVersion": "0.7.0", "kind": "v.com/c", "containerEdits": {`+edits+`}, "devices": [{"name": "d"}]}`)
		s := Read(Config{SpecDirs: []string{dir}})
		if list := health(s); len(list) != 1 || !strings.Contains(list[0], want) || len(s.Problems) != 1 {
			t.Errorf("the devices are %q, the problems %q; want %q", list, problems(s), want)
		}
	}
}
