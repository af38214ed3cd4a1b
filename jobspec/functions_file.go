// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var errNoFS = errors.New("reading files is not allowed here: the file may not be read on the machine that parses the job; run the command beside the file, or pass its text as a variable")

// files implements the functions that access the file system, if it is permitted.
type files struct {
	base    string
	allowed bool
}

func fileFunctions(opts Options) map[string]function.Function {
	f := files{base: opts.BaseDir, allowed: opts.AllowFS}
	gated := func(do func(args []string) (string, error), params ...string) function.Function {
		return textFunc(func(args []string) (string, error) {
			if !f.allowed {
				return "", errNoFS
			}
			return do(args)
		}, params...)
	}
	return map[string]function.Function{
		"abspath":    gated(func(a []string) (string, error) { return filepath.Abs(f.resolve(a[0])) }, "path"),
		"basename":   textFunc(func(a []string) (string, error) { return filepath.Base(a[0]), nil }, "path"),
		"dirname":    textFunc(func(a []string) (string, error) { return filepath.Dir(a[0]), nil }, "path"),
		"file":       gated(f.text, "path"),
		"filebase64": gated(f.base64, "path"),
		"fileexists": f.existsFunc(),
		"fileset":    f.setFunc(),
		"pathexpand": gated(func(a []string) (string, error) { return expandHome(a[0]) }, "path"),
	}
}

func expandHome(p string) (string, error) {
	rest, ok := strings.CutPrefix(p, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return p, nil
	}
	home, err := os.UserHomeDir()
	return home + rest, err
}

// resolve returns a path that is independent of the working directory.
func (f files) resolve(p string) string {
	if expanded, err := expandHome(p); err == nil {
		p = expanded
	}
	if filepath.IsAbs(p) || f.base == "" {
		return p
	}
	return filepath.Join(f.base, p)
}

func (f files) read(p string) ([]byte, error) {
	info, err := os.Stat(f.resolve(p))
	if err != nil {
		return nil, fileError(p, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", p)
	}
	if info.Size() > MaxSize {
		return nil, fmt.Errorf("%s has %d bytes; at most %d can be read into a job", p, info.Size(), MaxSize)
	}
	b, err := os.ReadFile(f.resolve(p))
	if err != nil {
		return nil, fileError(p, err)
	}
	return b, nil
}

// fileError names the file as the job file does.
func fileError(p string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", p, err)
}

func (f files) text(args []string) (string, error) {
	b, err := f.read(args[0])
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("%s is not UTF-8 text; use filebase64", args[0])
	}
	return string(b), err
}

func (f files) base64(args []string) (string, error) {
	b, err := f.read(args[0])
	return base64.StdEncoding.EncodeToString(b), err
}

func (f files) existsFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{text("path")},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !f.allowed {
				return cty.NilVal, errNoFS
			}
			info, err := os.Stat(f.resolve(args[0].AsString()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return cty.NilVal, fileError(args[0].AsString(), err)
			}
			return cty.BoolVal(err == nil && !info.IsDir()), nil
		},
	})
}

// setFunc lists the files of a directory that match a pattern, as paths relative to it. Two
// stars match any number of directories.
func (f files) setFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{text("path"), text("pattern")},
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !f.allowed {
				return cty.NilVal, errNoFS
			}
			found, err := matchFiles(f.resolve(args[0].AsString()), args[1].AsString())
			if err != nil {
				return cty.NilVal, fileError(args[0].AsString(), err)
			}
			if len(found) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			return cty.SetVal(found), nil
		},
	})
}

func matchFiles(root, pattern string) ([]cty.Value, error) {
	parts := strings.Split(path.Clean(pattern), "/")
	for _, p := range parts {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern", pattern)
		}
	}
	var found []cty.Value
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular() && matchPath(parts, strings.Split(name, "/")):
			found = append(found, cty.StringVal(name))
		case entry.IsDir() && name != "." && !slices.Contains(parts, "**") && strings.Count(name, "/")+1 >= len(parts):
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

func matchPath(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		return matchPath(pattern[1:], name) || len(name) > 0 && matchPath(pattern, name[1:])
	}
	if len(name) == 0 {
		return false
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && matchPath(pattern[1:], name[1:])
}
