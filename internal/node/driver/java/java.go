// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package java runs tasks with driver = "java": Java programs, with the node's Java runtime and the
// isolation of the driver exec.
package java

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/program"
)

// Driver is the driver java.
type Driver struct {
	exec *exec.Driver
	tool exec.Tool // the runtime
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of e.
func New(e *exec.Driver) *Driver { return &Driver{exec: e} }

// Name returns "java".
func (d *Driver) Name() string { return api.DriverJava }

// View returns the directories at the top of the task's root.
func (d *Driver) View(dir driver.Dir) driver.Dir { return d.exec.View(dir) }

// Start starts the config's program.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	inner, err := command(t)
	if err != nil {
		return nil, err
	}
	return d.exec.Start(ctx, inner)
}

// Recover finds a task that an earlier agent started. The runtime may be another one by now, or be gone.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	inner, err := command(t)
	if err != nil {
		inner = with(t, runtime{program: "java"}, nil)
	}
	return d.exec.Recover(ctx, inner)
}

// command returns the task as one of the driver exec.
func command(t *driver.Task) (*driver.Task, error) {
	r, err := find()
	if err != nil {
		return nil, err
	}
	args, err := arguments(t)
	if err != nil {
		return nil, err
	}
	return with(t, r, args), nil
}

// with returns a copy of the task that runs the runtime with arguments.
func with(t *driver.Task, r runtime, args []string) *driver.Task {
	inner := *t
	inner.Config = maps.Clone(t.Config)
	for _, key := range []string{"class", "class_path", "jar_path", "jvm_options"} {
		delete(inner.Config, key)
	}
	inner.Config["command"], inner.Config["args"] = r.program, args
	inner.Mounts = append(r.mounts(), t.Mounts...)
	return &inner
}

// arguments returns those of the runtime: its options, the program, and the program's arguments.
func arguments(t *driver.Task) ([]string, error) {
	class, err1 := t.ConfigString("class")
	path, err2 := t.ConfigString("class_path")
	jar, err3 := t.ConfigString("jar_path")
	options, err4 := t.ConfigStrings("jvm_options")
	args, err5 := t.ConfigStrings("args")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	list := append([]string{}, options...)
	switch {
	case class == "" && jar == "":
		return nil, errors.New("config has no jar_path and no class: name the program")
	case strings.HasPrefix(class, "-"):
		return nil, fmt.Errorf("config class %q is not the name of a class; options belong in jvm_options", class)
	case class == "":
		if path != "" {
			list = append(list, "-cp", path)
		}
		list = append(list, "-jar", jar)
	default: // the class may be in the jar
		if all := strings.Trim(jar+":"+path, ":"); all != "" {
			list = append(list, "-cp", all)
		}
		list = append(list, class)
	}
	return append(list, args...), nil
}

// A runtime is an installed Java.
type runtime struct {
	program string // its file, without links
	home    string // its directory
}

// find looks for the node's Java in the agent's search path.
func find() (runtime, error) {
	path := os.Getenv("PATH")
	found, err := program.Look("java", path)
	if err != nil {
		return runtime{}, fmt.Errorf("no Java runtime: %w; install one, such as Debian's default-jre-headless", err)
	}
	program, err := filepath.EvalSymlinks(found)
	if err != nil {
		return runtime{}, err
	}
	home := filepath.Dir(filepath.Dir(program))
	if filepath.Base(filepath.Dir(program)) != "bin" || home == "/" {
		home = filepath.Dir(program)
	}
	return runtime{program, home}, nil
}

// mounts returns what a task sees of the node besides what every isolated task sees: the runtime, and
// the configuration that Debian's packages keep in /etc.
func (r runtime) mounts() []driver.Mount {
	var paths []string
	if r.home != "" && !strings.HasPrefix(r.home+"/", "/usr/") {
		paths = append(paths, r.home)
	}
	configured, _ := filepath.Glob("/etc/java*") // the pattern is valid
	var mounts []driver.Mount
	for _, p := range append(paths, configured...) {
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			mounts = append(mounts, driver.Mount{Source: p, Target: p, ReadOnly: true})
		}
	}
	return mounts
}
