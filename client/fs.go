// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// FS calls the routes of allocations' directories and logs.
type FS struct{ c *Client }

// FS returns the calls for files.
func (c *Client) FS() FS { return FS{c} }

// List lists a directory; "/" is the allocation's.
func (f FS) List(ctx context.Context, alloc, path string) ([]*api.FileInfo, error) {
	q := (*QueryOptions)(nil).with("path", path)
	out, _, err := get[[]*api.FileInfo](ctx, f.c, pathf("/v1/client/fs/ls/%s", alloc), q)
	return out, err
}

// Stat describes a file.
func (f FS) Stat(ctx context.Context, alloc, path string) (*api.FileInfo, error) {
	q := (*QueryOptions)(nil).with("path", path)
	out, _, err := get[*api.FileInfo](ctx, f.c, pathf("/v1/client/fs/stat/%s", alloc), q)
	return out, err
}

// Cat returns a whole file. The caller closes it.
func (f FS) Cat(ctx context.Context, alloc, path string) (io.ReadCloser, error) {
	return f.read(ctx, pathf("/v1/client/fs/cat/%s", alloc), url.Values{"path": {path}})
}

// ReadAt returns at most limit bytes of a file from an offset; 0 means no limit. The caller
// closes it.
func (f FS) ReadAt(ctx context.Context, alloc, path string, offset, limit int64) (io.ReadCloser, error) {
	v := url.Values{"path": {path}, "offset": {strconv.FormatInt(offset, 10)}}
	if limit > 0 {
		v.Set("limit", strconv.FormatInt(limit, 10))
	}
	return f.read(ctx, pathf("/v1/client/fs/readat/%s", alloc), v)
}

// Snapshot returns the data of an ended allocation as a tar archive: its alloc/data and each
// task's local directory. The caller closes it.
func (f FS) Snapshot(ctx context.Context, alloc string) (io.ReadCloser, error) {
	return f.read(ctx, pathf("/v1/client/allocation/%s/snapshot", alloc), url.Values{})
}

func (f FS) read(ctx context.Context, path string, v url.Values) (io.ReadCloser, error) {
	f.c.addDefaults(v)
	resp, err := f.c.do(ctx, http.MethodGet, path, v, nil, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// LogOptions select a log and a position in it.
type LogOptions struct {
	Task   string
	Type   string // api.LogStdout (default) or api.LogStderr
	Follow bool   // continue until the task has ended and its whole log was read
	Origin string // api.OriginStart (default) or api.OriginEnd
	Offset int64  // bytes from the origin
}

// Logs yields a task's log.
func (f FS) Logs(ctx context.Context, alloc string, o LogOptions) iter.Seq2[*api.StreamFrame, error] {
	return f.frames(ctx, pathf("/v1/client/fs/logs/%s", alloc), url.Values{
		"task":   {o.Task},
		"type":   {firstOf(o.Type, api.LogStdout)},
		"follow": {strconv.FormatBool(o.Follow)},
		"origin": {firstOf(o.Origin, api.OriginStart)},
		"offset": {strconv.FormatInt(o.Offset, 10)},
	})
}

// Stream yields a file and all later additions until the loop ends. The origin is
// api.OriginStart or api.OriginEnd.
func (f FS) Stream(ctx context.Context, alloc, path, origin string, offset int64) iter.Seq2[*api.StreamFrame, error] {
	return f.frames(ctx, pathf("/v1/client/fs/stream/%s", alloc), url.Values{
		"path":   {path},
		"origin": {firstOf(origin, api.OriginStart)},
		"offset": {strconv.FormatInt(offset, 10)},
	})
}

func (f FS) frames(ctx context.Context, path string, v url.Values) iter.Seq2[*api.StreamFrame, error] {
	return func(yield func(*api.StreamFrame, error) bool) {
		for frame, err := range stream[api.StreamFrame](ctx, f.c, path, v, nil) {
			if err == nil && frame.IsHeartbeat() {
				continue
			}
			if !yield(frame, err) {
				return
			}
		}
	}
}
