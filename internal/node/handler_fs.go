// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/logs"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// heartbeatInterval is the interval of heartbeats, which keep idle streams open.
const heartbeatInterval = 10 * time.Second

// maxListed bounds the entries of a directory that is listed: a task can create more than
// fit into memory.
const maxListed = 100_000

// openDir opens an allocation's directory and returns the requested path, cleaned and
// relative to that directory.
func (n *Node) openDir(r *http.Request) (*os.Root, string, error) {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return nil, "", err
	}
	asked := r.FormValue("path")
	name := strings.TrimPrefix(path.Clean("/"+asked), "/")
	if name == "" {
		name = "."
	}
	if task, rest, _ := strings.Cut(name, "/"); rest == "secrets" || strings.HasPrefix(rest, "secrets/") {
		if slices.Contains(run.TaskNames(), task) {
			return nil, "", api.Errorf(api.CodeForbidden, "%q: a task's secrets may not be read", asked)
		}
	}
	root, err := os.OpenRoot(n.dirs.Root(run.ID()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", api.Errorf(api.CodeNotFound, "allocation %s has no directory yet: none of its tasks has been set up", api.ShortID(run.ID()))
	}
	return root, name, err
}

// isEscape reports whether a path was rejected because it leads outside of its root; package
// os does not export that error.
func isEscape(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes")
}

func fileInfo(info fs.FileInfo) *api.FileInfo {
	return &api.FileInfo{Name: info.Name(), IsDir: info.IsDir(), Size: info.Size(), FileMode: info.Mode().String(), ModTime: info.ModTime()}
}

func (n *Node) serveList(w http.ResponseWriter, r *http.Request) error {
	root, name, err := n.openDir(r)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := beneath.List(root, name)
	if err != nil {
		return fileError(r.FormValue("path"), err)
	}
	defer dir.Close()
	list := []*api.FileInfo{}
	for {
		entries, err := dir.ReadDir(1024)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fileError(r.FormValue("path"), err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil { // otherwise it was just removed
				list = append(list, fileInfo(info))
			}
		}
		if len(list) > maxListed {
			return api.Errorf(api.CodeTooLarge, "%q has more than %d entries: name a file or a directory below it", r.FormValue("path"), maxListed)
		}
	}
	slices.SortFunc(list, func(a, b *api.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return writeJSON(w, list)
}

func (n *Node) serveStat(w http.ResponseWriter, r *http.Request) error {
	root, name, err := n.openDir(r)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return fileError(r.FormValue("path"), err)
	}
	answer := fileInfo(info)
	if info.Mode().IsRegular() {
		if f, _, err := beneath.File(root, name); err == nil {
			start := make([]byte, 512)
			k, _ := io.ReadFull(f, start)
			answer.ContentType = http.DetectContentType(start[:k])
			f.Close()
		}
	}
	return writeJSON(w, answer)
}

func (n *Node) serveCat(w http.ResponseWriter, r *http.Request) error {
	return n.serveBytes(w, r, 0, 0)
}

func (n *Node) serveReadAt(w http.ResponseWriter, r *http.Request) error {
	offset, err := number(r, "offset", 0)
	if err != nil {
		return err
	}
	limit, err := signed(r, "limit", 0)
	if err != nil {
		return err
	}
	return n.serveBytes(w, r, offset, limit)
}

// serveBytes sends a part of a file, up to its end unless limit is above 0.
func (n *Node) serveBytes(w http.ResponseWriter, r *http.Request, offset, limit int64) error {
	root, name, err := n.openDir(r)
	if err != nil {
		return err
	}
	defer root.Close()
	f, info, err := beneath.File(root, name)
	if err != nil {
		return fileError(r.FormValue("path"), err)
	}
	defer f.Close()
	if _, err := f.Seek(min(offset, info.Size()), io.SeekStart); err != nil {
		return fileError(r.FormValue("path"), err)
	}
	var from io.Reader = f
	if limit > 0 {
		from = io.LimitReader(f, limit)
	}
	// Do not detect the type from the content: a task's file must not act as a page of this API.
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, err := io.Copy(w, from); err != nil {
		n.log.Debug("cannot send a file", "error", err)
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
	return nil
}

// streamOptions parses the parameters that serveStream and serveLogs share.
func streamOptions(r *http.Request) (o logs.Options, plain bool, err error) {
	if o.Offset, err = number(r, "offset", 0); err != nil {
		return o, false, err
	}
	switch origin := r.FormValue("origin"); origin {
	case "", api.OriginStart:
	case api.OriginEnd:
		o.FromEnd = true
	default:
		return o, false, api.Errorf(api.CodeInvalid, "origin %q: must be start or end", origin)
	}
	plain, err = flag(r, "plain")
	return o, plain, err
}

func (n *Node) serveStream(w http.ResponseWriter, r *http.Request) error {
	o, plain, err := streamOptions(r)
	if err != nil {
		return err
	}
	o.Follow = true
	if r.FormValue("follow") != "" {
		if o.Follow, err = flag(r, "follow"); err != nil {
			return err
		}
	}
	root, name, err := n.openDir(r)
	if err != nil {
		return err
	}
	defer root.Close()
	f, _, err := beneath.File(root, name) // so that an invalid request gets a status, not a broken stream
	if err != nil {
		return fileError(r.FormValue("path"), err)
	}
	f.Close()
	return n.stream(w, r, plain, func(ctx context.Context, sink logs.Sink) error {
		return logs.File(ctx, root, name, o, sink)
	})
}

func (n *Node) serveLogs(w http.ResponseWriter, r *http.Request) error {
	o, plain, err := streamOptions(r)
	if err != nil {
		return err
	}
	if o.Follow, err = flag(r, "follow"); err != nil {
		return err
	}
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	task, kind := r.FormValue("task"), r.FormValue("type")
	if names := run.TaskNames(); task == "" && len(names) == 1 {
		task = names[0]
	} else if task == "" {
		return api.Errorf(api.CodeInvalid, "task is missing; the allocation has: %s", strings.Join(names, ", "))
	} else if !slices.Contains(names, task) {
		return api.Errorf(api.CodeNotFound, "allocation %s has no task %q; it has: %s", api.ShortID(run.ID()), task, strings.Join(names, ", "))
	}
	if kind == "" {
		kind = api.LogStdout
	}
	if kind != api.LogStdout && kind != api.LogStderr {
		return api.Errorf(api.CodeInvalid, "type %q: must be stdout or stderr", kind)
	}
	root, err := n.logRoot(r.Context(), run, o.Follow)
	if err != nil {
		return err
	}
	if root == nil {
		return n.stream(w, r, plain, func(context.Context, logs.Sink) error { return nil })
	}
	defer root.Close()
	return n.stream(w, r, plain, func(ctx context.Context, sink logs.Sink) error {
		return logs.Task(ctx, root, "alloc/logs", task+"."+kind, o, run.Ended(), sink)
	})
}

// logRoot opens an allocation's directory. With follow, it waits until the directory exists;
// otherwise it returns nil for a missing directory.
func (n *Node) logRoot(ctx context.Context, run *runner.Runner, follow bool) (*os.Root, error) {
	for {
		dir := n.dirs.Root(run.ID())
		if _, err := os.Stat(path.Join(dir, "alloc", "logs")); err == nil {
			return os.OpenRoot(dir)
		}
		select {
		case <-run.Ended():
			return nil, nil
		default:
		}
		if !follow {
			return nil, nil
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return nil, nil
		}
	}
}

// stream sends frames, or plain bytes.
func (n *Node) stream(w http.ResponseWriter, r *http.Request, plain bool, read func(context.Context, logs.Sink) error) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(n.host.Context, cancel)
	defer stop()
	s := &frameStream{w: w, flush: http.NewResponseController(w).Flush, plain: plain, enc: json.NewEncoder(w)}
	if plain {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.flush()
	var beats sync.WaitGroup
	beats.Go(func() {
		for sleep(ctx, heartbeatInterval) {
			s.beat()
		}
	})
	err := read(ctx, s.send)
	cancel()
	beats.Wait()
	if err != nil { // the client has left, the agent is stopping, or the file cannot be read
		n.log.Debug("cannot stream a file", "error", err)
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
	return nil
}

// A frameStream writes frames from one goroutine, and heartbeats from another.
type frameStream struct {
	mu    sync.Mutex
	w     io.Writer
	flush func() error
	enc   *json.Encoder
	plain bool
}

func (s *frameStream) send(file string, offset int64, data []byte, event string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain {
		if _, err := s.w.Write(data); err != nil {
			return err
		}
	} else if err := s.enc.Encode(&api.StreamFrame{File: file, Offset: offset, Data: data, FileEvent: event}); err != nil {
		return err
	}
	return s.flush()
}

func (s *frameStream) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.plain {
		s.enc.Encode(&api.StreamFrame{})
		s.flush()
	}
}
