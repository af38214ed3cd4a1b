// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package program finds the programs that tasks run. It needs little of this module, because the steps in front of a
// task use it, too.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// DefaultPath is the search path of commands if a task's environment has no PATH.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Look finds the executable that a config block names: first relative to the given
// directories, then by its name in path. The error lists the searched places.
func Look(name, path string, dirs ...string) (string, error) {
	if name == "" {
		return "", errors.New("config has no command")
	}
	if path == "" {
		path = DefaultPath
	}
	var looked []string
	var denied error
	try := func(p string) bool {
		looked = append(looked, p)
		err := executable(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && denied == nil {
			denied = err
		}
		return err == nil
	}
	if filepath.IsAbs(name) {
		if try(name) {
			return name, nil
		}
	} else {
		for _, d := range dirs {
			if p := filepath.Join(d, name); try(p) {
				return p, nil
			}
		}
	}
	if !strings.Contains(name, "/") {
		for _, d := range filepath.SplitList(path) {
			if p := filepath.Join(d, name); filepath.IsAbs(p) && try(p) {
				return p, nil
			}
		}
		looked = append(append([]string{}, dirs...), filepath.SplitList(path)...)
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("command not found: %s (looked in %s)", name, strings.Join(looked, ", "))
}

func executable(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("permission denied: %s", path)
	case err != nil:
		return fs.ErrNotExist
	case st.IsDir():
		return fmt.Errorf("%s is a directory, not a command", path)
	case st.Mode()&0o111 == 0:
		return fmt.Errorf("permission denied: %s is not executable (chmod +x it)", path)
	}
	return nil
}

// Env returns the value of a variable in an environment; that of the last entry, as
// programs see it.
func Env(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == key {
			return v
		}
	}
	return ""
}
