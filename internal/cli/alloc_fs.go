// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func allocFSCommand(c *cli) *command {
	var (
		to      target
		stat    bool
		machine bool
		follow  bool
		tail    tailing
	)
	return &command{
		use:   "fs ALLOC [PATH]",
		short: "List the directories of an allocation and print its files",
		long: `List PATH if it is a directory, or print it if it is a file. Paths are relative
to the allocation's directory: tasks share "alloc", and "TASK/local" belongs to
one task. "TASK/secrets" is not readable.`,
		example: `reeve alloc fs 3f2a
reeve alloc fs 3f2a alloc/logs
reeve alloc fs -stat 3f2a server/local/config.json
reeve alloc fs -tail -f 3f2a server/local/app.log`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&to.job, "job", "", "choose an allocation of `JOB`, preferably a running one")
			f.BoolVar(&stat, "stat", false, "describe the file instead of printing it")
			f.BoolVarP(&machine, "machine", "H", false, "print sizes in bytes and full times")
			f.BoolVarP(&follow, "follow", "f", false, "follow the file as it grows")
			tail.addTo(f)
		},
		ownArgs: true, // -job takes the place of ALLOC
		run: func(r *call) error {
			a, rest, err := to.find(r.ctx, c, r.cl, r.args, false)
			if err != nil {
				return err
			}
			path := "/"
			if len(rest) > 0 {
				path = "/" + strings.TrimPrefix(rest[0], "/")
			}
			tail.given = r.flags.Changed("n") || r.flags.Changed("c")
			files := files{c: c, cl: r.cl, alloc: a.ID, path: path, follow: follow, tail: tail, machine: machine, format: r.format}
			return files.show(r.ctx, stat)
		},
	}
}

// files shows one path of an allocation's directory.
type files struct {
	c       *cli
	cl      *client.Client
	alloc   string
	path    string
	follow  bool
	tail    tailing
	machine bool
	format  format
}

func (f *files) show(ctx context.Context, stat bool) error {
	info, err := f.cl.FS().Stat(ctx, f.alloc, f.path)
	if err != nil {
		return err
	}
	switch {
	case stat:
		return f.c.show(f.format, info, func(p *term.Page) { view.Files(p, []*api.FileInfo{info}, f.machine) })
	case !info.IsDir:
		return f.print(ctx)
	}
	list, err := f.cl.FS().List(ctx, f.alloc, f.path)
	if err != nil {
		return err
	}
	return f.c.show(f.format, list, func(p *term.Page) { view.Files(p, list, f.machine) })
}

// print writes the file, or its end, and with -f everything that is appended.
func (f *files) print(ctx context.Context) error {
	if !f.follow && !f.tail.on && !f.tail.given {
		body, err := f.cl.FS().Cat(ctx, f.alloc, f.path)
		if err != nil {
			return err
		}
		defer body.Close()
		_, err = io.Copy(f.c.Stdout, body)
		return err
	}
	size, err := f.size(ctx)
	if err != nil {
		return err
	}
	origin, offset := api.OriginStart, int64(0)
	_, err = f.tail.start(&origin, &offset, func(_ string, n int64) ([]byte, error) {
		return f.readEnd(ctx, size, n)
	})
	if err != nil {
		return err
	}
	from := int64(0)
	if origin == api.OriginEnd {
		from = max(0, size-offset)
	}
	if f.follow {
		return f.followFile(ctx, from)
	}
	end, err := f.readEnd(ctx, size, size-from)
	if err != nil {
		return err
	}
	_, err = f.c.Stdout.Write(end)
	return err
}

func (f *files) size(ctx context.Context) (int64, error) {
	info, err := f.cl.FS().Stat(ctx, f.alloc, f.path)
	if err != nil {
		return 0, err
	}
	return info.Size, nil
}

// readEnd reads the last n bytes of the file.
func (f *files) readEnd(ctx context.Context, size, n int64) ([]byte, error) {
	body, err := f.cl.FS().ReadAt(ctx, f.alloc, f.path, max(0, size-n), 0)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
