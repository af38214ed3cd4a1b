// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A following copies a log or a file as it grows. It survives the loss of the server: it
// then continues after the last copied byte.
type following struct {
	cl    *client.Client // survives outages
	w     io.Writer
	begin func(ctx context.Context) iter.Seq2[*api.StreamFrame, error]
	// resume makes begin start after a frame.
	resume func(ctx context.Context, last *api.StreamFrame) error
	// reach fails with api.CodeUnavailable while the stream cannot begin.
	reach func(ctx context.Context) error
	// ended reports whether the stream has ended permanently.
	ended func(ctx context.Context) (bool, error)
}

// pauseBetweenStreams limits the rate of streams that end immediately.
const pauseBetweenStreams = 200 * time.Millisecond

func (f *following) run(ctx context.Context) error {
	if err := f.reach(ctx); api.CodeOf(err) == api.CodeUnavailable {
		return err
	}
	var last *api.StreamFrame
	for {
		err := f.copy(ctx, &last)
		switch {
		case ctx.Err() != nil:
			return nil // an interrupt ends following
		case err == nil:
			over, err := f.ended(ctx)
			if over || err != nil {
				return interrupted(ctx, err)
			}
		default:
			if err := f.cl.Outlast(ctx, err, f.reach); err != nil {
				return interrupted(ctx, err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pauseBetweenStreams):
		}
		if last == nil {
			continue
		}
		if err := f.resume(ctx, last); err != nil {
			return interrupted(ctx, err)
		}
	}
}

// interrupted returns err, or nil after ctx ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// copy copies one stream, and records its position.
func (f *following) copy(ctx context.Context, last **api.StreamFrame) error {
	for frame, err := range f.begin(ctx) {
		if err != nil {
			return err
		}
		if _, err := f.w.Write(frame.Data); err != nil {
			return err
		}
		*last = &api.StreamFrame{File: frame.File, Offset: frame.Offset}
	}
	return nil
}

// followLog writes a task's log until the task ends.
func (l *logs) followLog(ctx context.Context, o client.LogOptions, w io.Writer) error {
	f := &following{cl: l.cl, w: w}
	f.begin = func(ctx context.Context) iter.Seq2[*api.StreamFrame, error] { return l.cl.FS().Logs(ctx, l.alloc, o) }
	f.reach = func(ctx context.Context) error {
		_, err := l.cl.WithPatience(client.Patience{}).FS().List(ctx, l.alloc, "alloc/logs")
		return err
	}
	f.resume = func(ctx context.Context, last *api.StreamFrame) error {
		files, err := l.cl.FS().List(ctx, l.alloc, "alloc/logs")
		o.Origin, o.Offset = api.OriginStart, offsetBehind(files, last)
		return err
	}
	f.ended = func(ctx context.Context) (bool, error) {
		a, _, err := l.cl.Allocations().Get(ctx, l.alloc, nil)
		if err != nil {
			return false, err
		}
		return a.IsClientTerminal(), nil
	}
	return f.run(ctx)
}

// offsetBehind returns the offset in a log after a frame. Rotation may have removed
// files since.
func offsetBehind(files []*api.FileInfo, last *api.StreamFrame) int64 {
	prefix, number, _ := rotation(last.File)
	var offset int64
	for _, file := range files {
		p, n, ok := rotation(file.Name)
		switch {
		case !ok || p != prefix:
		case n < number:
			offset += file.Size
		case n == number:
			offset += last.Offset
		}
	}
	return offset
}

// rotation splits the name of a log's file, such as "web.stdout.3".
func rotation(name string) (prefix string, number int, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", 0, false
	}
	number, err := strconv.Atoi(name[i+1:])
	return name[:i], number, err == nil
}

// followFile writes bytes that are appended to a file.
func (f *files) followFile(ctx context.Context, from int64) error {
	at := from
	cl := f.c.patient(f.cl, f.c.tell)
	g := &following{cl: cl, w: f.c.Stdout}
	g.begin = func(ctx context.Context) iter.Seq2[*api.StreamFrame, error] {
		return f.cl.FS().Stream(ctx, f.alloc, f.path, api.OriginStart, at)
	}
	g.reach = func(ctx context.Context) error {
		_, err := f.cl.FS().Stat(ctx, f.alloc, f.path)
		return err
	}
	g.resume = func(_ context.Context, last *api.StreamFrame) error {
		at = last.Offset
		return nil
	}
	g.ended = func(ctx context.Context) (bool, error) {
		_, err := cl.FS().Stat(ctx, f.alloc, f.path)
		if api.CodeOf(err) == api.CodeNotFound {
			return true, nil // it was deleted
		}
		return false, err
	}
	return g.run(ctx)
}
