// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A tree is the result of unpacking, below an os.Root: no name leads out of it, not even through
// links. It charges every entry and byte before it writes them.
type tree struct {
	root   *os.Root
	limits Limits
	subdir string // the only part of the archive to keep; "": all of it
	bytes  int64
	files  int64
	found  bool // an entry below subdir
}

const (
	maxPath = 4095
	maxLink = 4095
)

// within returns the place of an archive's entry below the root; skip: it is outside of subdir.
func (t *tree) within(name string) (place string, skip bool, err error) {
	if len(name) > maxPath || strings.IndexByte(name, 0) >= 0 {
		return "", false, refuse("the archive contains a name of %d bytes, or with a NUL byte", len(name))
	}
	clean := path.Clean(strings.TrimLeft(name, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", false, refuse("the archive's entry %s leads out of it", api.Printable(name, 100))
	}
	if t.subdir == "" {
		return clean, false, nil
	}
	if clean == t.subdir {
		return ".", false, nil
	}
	place, ok := strings.CutPrefix(clean, t.subdir+"/")
	return place, !ok, nil
}

// claim charges an entry, and makes room for it.
func (t *tree) claim(place string, isDir bool) error {
	t.found = true
	if t.files++; t.files > t.limits.Files {
		return &Failure{Text: fmt.Sprintf("the archive holds more than %d files", t.limits.Files),
			Hint: "raise decompression_file_count_limit of the artifact block in the node's configuration"}
	}
	if above := path.Dir(place); above != "." {
		if err := t.mkdirs(above); err != nil {
			return err
		}
	}
	old, err := t.root.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case isDir && old.IsDir():
		return nil
	case old.IsDir():
		return refuse("the archive's entry %s is a directory and also something else", api.Printable(place, 100))
	}
	return t.root.Remove(place)
}

// mkdirs makes the directories that archives may leave out.
func (t *tree) mkdirs(dir string) error {
	if info, err := t.root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	t.files += int64(strings.Count(dir, "/")) + 1
	return t.root.MkdirAll(dir, 0o755)
}

func (t *tree) addDir(name string, mode fs.FileMode) error {
	place, skip, err := t.within(name)
	if err != nil || skip {
		return err
	}
	if place == "." {
		t.found = true
		return nil
	}
	if err := t.claim(place, true); err != nil {
		return err
	}
	if err := t.root.Mkdir(place, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.root.Chmod(place, mode.Perm()|0o700)
}

func (t *tree) addFile(name string, mode fs.FileMode, content io.Reader) error {
	place, skip, err := t.within(name)
	if err != nil || skip {
		return err
	}
	if place == "." {
		return refuse("the archive's root is not a directory")
	}
	if err := t.claim(place, false); err != nil {
		return err
	}
	f, err := t.root.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(content, t.limits.Unpacked-t.bytes+1))
	if t.bytes += n; err == nil && t.bytes > t.limits.Unpacked {
		err = t.tooLarge()
	}
	if err == nil {
		err = f.Chmod(mode.Perm() | 0o400)
	}
	return errors.Join(err, f.Close())
}

func (t *tree) tooLarge() error {
	return &Failure{Text: fmt.Sprintf("the archive holds more than %d bytes", t.limits.Unpacked),
		Hint: "raise decompression_size_limit of the artifact block in the node's configuration"}
}

// addLink adds a symbolic link, whose target must lie in the tree: a task that follows a link of
// its artifact reaches a file of the artifact.
func (t *tree) addLink(name, target string) error {
	place, skip, err := t.within(name)
	if err != nil || skip {
		return err
	}
	to := path.Join(path.Dir(place), target)
	if place == "." || target == "" || len(target) > maxLink || path.IsAbs(target) || strings.IndexByte(target, 0) >= 0 || to == ".." || strings.HasPrefix(to, "../") {
		return refuse("the archive's link %s leads to %s, which is not in it", api.Printable(name, 100), api.Printable(target, 100))
	}
	if err := t.claim(place, false); err != nil {
		return err
	}
	return t.root.Symlink(target, place)
}

// addHardLink adds another name of an earlier file. Each name counts as a file, because the task's
// copy has one for each.
func (t *tree) addHardLink(name, target string) error {
	place, skip, err := t.within(name)
	if err != nil || skip {
		return err
	}
	from, outside, err := t.within(target)
	if err != nil {
		return err
	}
	missing := refuse("the archive's link %s leads to %s, which is not an earlier file of it", api.Printable(name, 100), api.Printable(target, 100))
	if outside || place == "." || from == place {
		return missing
	}
	info, err := t.root.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return missing
	}
	if t.bytes += info.Size(); t.bytes > t.limits.Unpacked {
		return t.tooLarge()
	}
	if err := t.claim(place, false); err != nil {
		return err
	}
	return t.root.Link(from, place)
}

// finish checks that the part that the source names exists.
func (t *tree) finish() error {
	if t.subdir != "" && !t.found {
		return &Failure{Text: fmt.Sprintf("it contains no directory %s", api.Printable(t.subdir, 100)), Hint: "correct the part of the source after //"}
	}
	return nil
}
