// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package contexts keeps the clusters that a user logged in to, in a file that only the user
// can read. It knows nothing of connections and commands.
package contexts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Context is what commands need to reach one cluster as one user.
type Context struct {
	Name    string
	Servers []string // host:port, tried in this order
	Roots   string   // certificates of the cluster's authority, in PEM
	Token   string   `json:",omitempty"`
	// Issued reports whether a login by an identity provider created the token for this context.
	Issued bool `json:",omitempty"`
}

// A File holds contexts by name, and which of them is current.
type File struct {
	Current  string `json:",omitempty"`
	Contexts []Context

	path string
}

// fileName is the name of the file in the directory.
const fileName = "contexts.json"

// Dir returns the directory of the file: REEVE_CONFIG_DIR, or reeve in the user's directory of
// configuration.
func Dir(getenv func(string) string) (string, error) {
	if dir := getenv("REEVE_CONFIG_DIR"); dir != "" {
		return dir, nil
	}
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "reeve"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", api.Errorf(api.CodeInvalid, "there is no place for contexts: HOME is not set; set REEVE_CONFIG_DIR to a directory")
	}
	return filepath.Join(home, ".config", "reeve"), nil
}

// Load reads the file of a directory; an absent one holds no contexts.
func Load(dir string) (*File, error) {
	f := &File{path: filepath.Join(dir, fileName)}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, api.Errorf(api.CodeInvalid, "%s holds tokens, and its mode %#o lets other users read them: run chmod 600 %s", f.path, info.Mode().Perm(), f.path)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(f.path)
	}
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "read contexts from %s: %v; correct the file, or remove it and log in again", f.path, err)
	}
	return f, nil
}

// Save writes the file atomically.
func (f *File) Save() error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(f.path), fileName+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), f.path)
	}
	if err != nil {
		os.Remove(out.Name())
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

// Put stores a context, in place of another of its name, and makes it current.
func (f *File) Put(c Context) {
	f.Contexts = slices.DeleteFunc(f.Contexts, func(other Context) bool { return other.Name == c.Name })
	f.Contexts = append(f.Contexts, c)
	slices.SortFunc(f.Contexts, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
	f.Current = c.Name
}

// Find returns the context of a name.
func (f *File) Find(name string) (Context, error) {
	for _, c := range f.Contexts {
		if c.Name == name {
			return c, nil
		}
	}
	var names []string
	for _, c := range f.Contexts {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return Context{}, api.Errorf(api.CodeNotFound, "context %q not found: no context exists; log in to a cluster with: reeve login HOST", name)
	}
	return Context{}, api.Errorf(api.CodeNotFound, "context %q not found; there are: %s", name, strings.Join(names, ", "))
}

// Delete removes a context. If it was current, none is.
func (f *File) Delete(name string) error {
	if _, err := f.Find(name); err != nil {
		return err
	}
	f.Contexts = slices.DeleteFunc(f.Contexts, func(c Context) bool { return c.Name == name })
	if f.Current == name {
		f.Current = ""
	}
	return nil
}

// ReplaceToken replaces a token, and returns the names of the contexts that had it.
func (f *File) ReplaceToken(old, token string) []string {
	var names []string
	for i := range f.Contexts {
		if old != "" && f.Contexts[i].Token == old {
			f.Contexts[i].Token, f.Contexts[i].Issued = token, false
			names = append(names, f.Contexts[i].Name)
		}
	}
	return names
}
