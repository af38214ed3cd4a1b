// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package java_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/driver/java"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

const versionText = `Picked up JAVA_TOOL_OPTIONS: -Xmx1g
openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)
`

// install makes a Java that prints its arguments, and puts it into the agent's search path. It lies where
// isolated tasks see nothing of the node.
func install(t *testing.T, script string) string {
	t.Helper()
	home := supervisetest.Dir(t)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	replace(t, home, script)
	t.Setenv("PATH", bin)
	return home
}

func replace(t *testing.T, home, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "version"), []byte(versionText), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nhome=" + home + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

const printArgs = `[ "$1" = -version ] && { cat $home/version >&2; exit 0; }
for a in "$@"; do echo "$a"; done; id -un; pwd; touch $home/written 2>/dev/null && echo writable; ls /root /home 2>/dev/null; exit 0`

// open makes the driver. On a machine that cannot isolate, it checks that the driver says so, and
// reports false.
func open(t *testing.T) (*java.Driver, bool) {
	t.Helper()
	client := supervisetest.Connect(t)
	d := java.New(exec.New(client, exec.Config{}))
	s := d.Fingerprint(t.Context())
	if client.Machine().Root != s.Healthy {
		t.Errorf("the driver's status: %+v", s)
	}
	return d, s.Healthy
}

func run(t *testing.T, d *java.Driver, config map[string]any) (string, driver.Exit, error) {
	t.Helper()
	task := supervisetest.Task(t, "a/t/0", config)
	h, err := d.Start(t.Context(), task)
	if err != nil {
		return "", driver.Exit{}, err
	}
	again, err := d.Recover(t.Context(), task)
	if err != nil || again.StartedAt() != h.StartedAt() {
		t.Errorf("the next agent finds %v, %v", again, err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	return supervisetest.Output(t, task.Logs.StdoutPrefix), exit, nil
}

func TestAJavaTaskRunsIsolated(t *testing.T) {
	install(t, printArgs)
	d, ok := open(t)
	if !ok {
		return
	}
	const rest = "nobody\n/\n"
	for want, config := range map[string]map[string]any{
		"-Xmx64m\n-jar\nlocal/app.jar\n--port\n80\n": {"jar_path": "local/app.jar", "jvm_options": []any{"-Xmx64m"}, "args": []any{"--port", "80"}},
		"-cp\n/srv/lib/*\ncom.example.Main\n-x\n":    {"class": "com.example.Main", "class_path": "/srv/lib/*", "args": []any{"-x"}},
		"-cp\na.jar:b\nMain\n":                       {"class": "Main", "jar_path": "a.jar", "class_path": "b"},
		"-cp\na.jar\nOther\n":                        {"class": "Other", "jar_path": "a.jar"},
		"Main\n":                                     {"class": "Main"},
		"-cp\nb\n-jar\na.jar\n":                      {"jar_path": "a.jar", "class_path": "b"},
	} {
		out, exit, err := run(t, d, config)
		if err != nil || exit.Code != 0 || out != want+rest {
			t.Errorf("%v: %q, %+v, %v; want %q", config, out, exit, err, want+rest)
		}
	}
}

func TestAJavaTaskWithoutAProgramIsRejected(t *testing.T) {
	install(t, printArgs)
	d, ok := open(t)
	if !ok {
		return
	}
	for want, config := range map[string]map[string]any{
		"config has no jar_path and no class":                 {},
		`config class "-version" is not the name of a class`:  {"class": "-version"},
		"config jvm_options must be a list of strings, not 7": {"class": "Main", "jvm_options": 7},
		"config pid_mode must be":                             {"class": "Main", "pid_mode": "shared"},
	} {
		if out, _, err := run(t, d, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q, %v; want %q", config, out, err, want)
		}
	}
}

func TestTheNodePublishesItsJava(t *testing.T) {
	home := install(t, printArgs)
	d, ok := open(t)
	if !ok {
		return
	}
	s := d.Fingerprint(t.Context())
	for key, want := range map[string]string{
		"driver.java": "1", "driver.java.version": "17.0.15",
		"driver.java.runtime": "OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)",
		"driver.java.vm":      "OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)",
	} {
		if s.Attributes[key] != want {
			t.Errorf("%s is %q, want %q", key, s.Attributes[key], want)
		}
	}
	for want, script := range map[string]string{
		"-version exits with 3: broken":            `echo broken >&2; exit 3`,
		`-version names no version: "hello"`:       `echo hello >&2; echo more >&2`,
		`-version names no version: ""`:            `exit 0`,
		`-version names no version: "xxxxxxxxxxxx`: `head -c 3000000 /dev/zero | tr '\0' x >&2; echo; exit 0`,
	} {
		replace(t, home, script)
		s := d.Fingerprint(t.Context())
		if s.Healthy || !s.Detected || len(s.Attributes) > 0 || !strings.Contains(s.HealthDescription, want) || len(s.HealthDescription) > 400 {
			t.Errorf("%s: %+v, want %q", script, s, want)
		}
	}
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	s = d.Fingerprint(t.Context())
	if s.Detected || s.Healthy || !strings.Contains(s.HealthDescription, "install one, such as Debian's default-jre-headless") {
		t.Errorf("without Java: %+v", s)
	}
	if _, _, err := run(t, d, map[string]any{"class": "Main"}); err == nil || !strings.Contains(err.Error(), "no Java runtime") {
		t.Errorf("a start without Java: %v", err)
	}
}
