// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package logs reads files of an allocation that may still grow: one file, or a task's
// rotated output PREFIX.0, PREFIX.1, ..., where the highest number is the newest and the
// lowest ones are deleted.
//
// It opens all files through an os.Root, so that no link leads outside of the allocation's
// directory. Followers sleep until the kernel reports a change.
package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// Options select the part to read.
type Options struct {
	FromEnd bool  // Offset counts backwards from the end
	Offset  int64 // bytes
	Follow  bool  // wait for more at the end
}

// A Sink receives data that ends at offset of file, or an event as a sentence, without data.
type Sink func(file string, offset int64, data []byte, event string) error

// Events of a followed file.
const (
	Deleted   = "file deleted"
	Truncated = "file truncated"
)

const chunk = 64 << 10

// File reads one file. If ctx ends first, File returns its error: the data is incomplete.
func File(ctx context.Context, root *os.Root, name string, o Options, sink Sink) error {
	f, info, err := beneath.File(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	at := min(o.Offset, info.Size())
	if o.FromEnd {
		at = max(0, info.Size()-o.Offset)
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	var w *watch
	if o.Follow {
		w = watchDir(root, path.Dir(name))
		defer w.close()
	}
	c := copier{file: f, name: name, at: at, sink: sink}
	for {
		if err := c.copy(ctx); err != nil || !o.Follow {
			return err
		}
		if _, err := root.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return sink(name, c.at, nil, Deleted)
		}
		if cut, err := c.truncated(); err != nil {
			return err
		} else if cut {
			if err := sink(name, 0, nil, Truncated); err != nil {
				return err
			}
			continue
		}
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// A copier passes a file's bytes to a sink.
type copier struct {
	file *os.File
	name string
	at   int64
	sink Sink
}

func (c *copier) copy(ctx context.Context) error {
	buf := make([]byte, chunk)
	for ctx.Err() == nil {
		n, err := c.file.Read(buf)
		if n > 0 {
			c.at += int64(n)
			if err := c.sink(c.name, c.at, buf[:n], ""); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// truncated detects that the file became shorter, and starts from its beginning.
func (c *copier) truncated() (bool, error) {
	info, err := c.file.Stat()
	if err != nil || info.Size() >= c.at {
		return false, err
	}
	c.at = 0
	_, err = c.file.Seek(0, io.SeekStart)
	return true, err
}

// Task reads a task's rotated output: dir/PREFIX.N. The offset counts over all remaining
// files; 0 from the end is the beginning of the newest file. A follower ends when ended is
// closed and it has read everything. If ctx ends first, Task returns its error.
func Task(ctx context.Context, root *os.Root, dir, prefix string, o Options, ended <-chan struct{}, sink Sink) error {
	var w *watch
	if o.Follow {
		w = watchDir(root, dir)
		defer w.close()
	}
	numbers, err := rotated(root, dir, prefix)
	if err != nil {
		return err
	}
	number, at, err := locate(root, dir, prefix, numbers, o)
	if err != nil {
		return err
	}
	for {
		// Check for the end before reading, so that the last output is read.
		over := isClosed(ended)
		number, at, err = drain(ctx, root, dir, prefix, number, at, sink)
		if err != nil || !o.Follow || over {
			return err
		}
		if err := w.waitOr(ctx, ended); err != nil {
			return err
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// maxFiles bounds the number of log files that are read: the newest ones. A task can create
// any number.
const maxFiles = 4096

// rotated returns the numbers of the existing files, oldest first.
func rotated(root *os.Root, dir, prefix string) ([]int, error) {
	d, err := beneath.List(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var numbers []int
	newest := func() {
		slices.Sort(numbers)
		numbers = slices.Delete(numbers, 0, max(0, len(numbers)-maxFiles))
	}
	err = beneath.Names(d, func(name string) {
		if rest, ok := strings.CutPrefix(name, prefix+"."); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 0 && strconv.Itoa(n) == rest {
				if numbers = append(numbers, n); len(numbers) >= 2*maxFiles {
					newest()
				}
			}
		}
	})
	newest()
	return numbers, err
}

// locate finds the file and position of an offset.
func locate(root *os.Root, dir, prefix string, numbers []int, o Options) (number int, at int64, err error) {
	if len(numbers) == 0 {
		return 0, 0, nil
	}
	sizes := make([]int64, len(numbers))
	var total int64
	for i, n := range numbers {
		if info, err := root.Stat(fileName(dir, prefix, n)); err == nil {
			sizes[i] = info.Size()
			total += info.Size()
		}
	}
	if o.FromEnd && o.Offset == 0 {
		return numbers[len(numbers)-1], 0, nil
	}
	skip := min(o.Offset, total)
	if o.FromEnd {
		skip = max(0, total-o.Offset)
	}
	for i, size := range sizes {
		if skip < size || i == len(sizes)-1 {
			return numbers[i], skip, nil
		}
		skip -= size
	}
	return numbers[0], 0, nil
}

// drain reads to the end of the newest file, and returns its number and length.
func drain(ctx context.Context, root *os.Root, dir, prefix string, number int, at int64, sink Sink) (int, int64, error) {
	for {
		f, _, err := beneath.File(root, fileName(dir, prefix, number))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return number, at, err
		}
		// List the files before reading this one to its end: a file with a successor no longer
		// grows.
		numbers, listErr := rotated(root, dir, prefix)
		if f != nil {
			if _, err := f.Seek(at, io.SeekStart); err != nil {
				f.Close()
				return number, at, err
			}
			c := copier{file: f, name: path.Base(f.Name()), at: at, sink: sink}
			err := c.copy(ctx)
			f.Close()
			at = c.at
			if err != nil {
				return number, at, err
			}
		}
		if listErr != nil {
			return number, at, listErr
		}
		next := slices.IndexFunc(numbers, func(n int) bool { return n > number })
		if next < 0 {
			return number, at, nil
		}
		number, at = numbers[next], 0
	}
}

func fileName(dir, prefix string, number int) string {
	return path.Join(dir, fmt.Sprintf("%s.%d", prefix, number))
}
