// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// IDs returns the numbers of the user and group; false: the directories belong to the agent's user.
func (o Owner) IDs() (uid, gid int, ok bool) { return o.uid, o.gid, o.set }

// A Place is a directory of a task, or one below it.
type Place struct {
	root   string // a directory that no task can move or replace
	within string // below it, with slashes; each component may be a task's
}

// Locate finds the directory that a path of a job file means. The path is relative to the task's
// directory, or absolute as the task sees it (view) or as the host does.
func (t *Tree) Locate(alloc, task, name string, view driver.Dir) (Place, error) {
	own := t.Task(alloc, task)
	isolated := view.Local != own.Local
	areas := []struct{ seen, of, root, within string }{
		{view.Alloc, own.Alloc, t.Root(alloc), "alloc"},
		{view.Local, own.Local, t.Root(alloc), task + "/local"},
		{view.Tmp, own.Tmp, t.Root(alloc), task + "/tmp"},
		{view.Secrets, own.Secrets, filepath.Dir(own.Secrets), filepath.Base(own.Secrets)},
		{path.Join(view.Task, "secrets"), path.Join(own.Task, "secrets"), filepath.Dir(own.Secrets), filepath.Base(own.Secrets)},
	}
	clean := path.Clean(name)
	if !path.IsAbs(name) {
		if clean == ".." || strings.HasPrefix(clean, "../") {
			return Place{}, errors.New("it leads out of the task's directory")
		}
		clean = path.Join(own.Task, clean)
	}
	for _, a := range areas {
		for _, at := range []string{a.seen, a.of} {
			if rest, ok := strings.CutPrefix(clean+"/", at+"/"); ok && at != "" {
				return Place{a.root, strings.TrimSuffix(a.within+"/"+rest, "/")}, nil
			}
		}
	}
	rest, ok := strings.CutPrefix(clean+"/", own.Task+"/")
	switch rest = strings.TrimSuffix(rest, "/"); {
	case isolated:
		return Place{}, errors.New("the task would not see it: it sees local/, secrets/, tmp/ and alloc/")
	case !ok && !path.IsAbs(name):
		return Place{}, errors.New("it leads out of the task's directory")
	case !ok: // as Nomad does: an absolute path starts at the task's directory
		return Place{t.Root(alloc), strings.TrimSuffix(task+path.Clean("/"+name), "/")}, nil
	case rest == "":
		return Place{t.Root(alloc), task}, nil
	}
	return Place{t.Root(alloc), task + "/" + rest}, nil
}

// Split returns the directory above the place, and the name of the place in it.
func (p Place) Split() (Place, string) {
	dir, name := path.Split(p.within)
	return Place{p.root, strings.TrimSuffix(dir, "/")}, name
}

// Open opens a place, and makes missing directories for the owner. It follows no link.
func (t *Tree) Open(p Place, owner Owner) (*beneath.Dir, error) {
	t.writes <- struct{}{}
	defer func() { <-t.writes }()
	dir, err := beneath.Open(p.root)
	if err != nil {
		return nil, fmt.Errorf("open the task's directory: %w", err)
	}
	for part := range strings.SplitSeq(p.within, "/") {
		if part == "" {
			continue
		}
		next, err := dir.Dir(part)
		if err != nil {
			next, err = makeFor(dir, part, owner)
		}
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func makeFor(in *beneath.Dir, name string, owner Owner) (*beneath.Dir, error) {
	dir, err := in.Make(name, 0o755)
	if err != nil {
		return nil, err
	}
	if err := owner.take(dir); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}
