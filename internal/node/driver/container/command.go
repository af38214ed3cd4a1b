// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"errors"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/program"
)

// command returns the program of the container and its arguments. As with other engines, a new
// entrypoint or command of the job replaces the image's command.
func command(c *api.ContainerConfig, image v1.Config) ([]string, error) {
	entrypoint, cmd := image.Entrypoint, image.Cmd
	if c.Entrypoint != nil {
		entrypoint, cmd = c.Entrypoint, nil
	}
	switch {
	case c.Command != "":
		cmd = append([]string{c.Command}, c.Args...)
	case len(c.Args) > 0:
		cmd = c.Args
	}
	argv := append(slices.Clone(entrypoint), cmd...)
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("the image names no command to run: set command in the task's config")
	}
	return argv, nil
}

// environment returns the image's variables, overridden by the task's. The node's defaults for a
// search path and directories give way to the image's: they describe the node's own programs.
func environment(task []string, image v1.Config) []string {
	set := map[string]bool{}
	var env []string
	for _, kv := range slices.Backward(task) {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || set[key] || isDefault(key, value) {
			continue
		}
		set[key] = true
		env = append(env, kv)
	}
	for _, kv := range slices.Backward(image.Env) {
		if key, _, ok := strings.Cut(kv, "="); ok && !set[key] {
			set[key] = true
			env = append(env, kv)
		}
	}
	if !set["PATH"] {
		env = append(env, "PATH="+program.DefaultPath)
	}
	slices.Sort(env)
	return env
}

// isDefault reports whether a variable has the value that the node gives it unless the job does.
func isDefault(key, value string) bool {
	return key == "PATH" && value == program.DefaultPath || key == "HOME" && value == "/local" || key == "TMPDIR" && value == "/tmp"
}

// Variables returns the task's variables without those that give way to the image's.
func Variables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		key, value, ok := strings.Cut(kv, "=")
		return !ok || isDefault(key, value)
	})
}
