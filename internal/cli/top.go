// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/top"
)

// Limits of -interval.
const (
	topInterval      = 2 * time.Second
	topIntervalLeast = 500 * time.Millisecond
)

func topCommand(c *cli) *command {
	var once bool
	interval := topInterval
	return &command{
		use:   "top",
		short: "Watch the cluster, its servers, jobs and nodes in the terminal",
		long: `Shows the leader, how far servers are behind, what waits for a person, counts
and rates, and lists of servers, jobs and nodes, until q or Ctrl-C. The order
"by problems" shows jobs and nodes with problems first.

When the server that answers is lost, reeve top continues with another one of
the current context ("reeve login"). Without a terminal, or with -once, it
prints one reading. -json prints one reading as an object.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&once, "once", false, "print one reading")
			f.DurationVar(&interval, "interval", topInterval, "read the cluster every `D`, at least 500ms; less often if answers take long")
		},
		format:  true,
		offline: true, // it connects to several servers
		check: func(*call) error {
			if interval < topIntervalLeast {
				return usagef("-interval %s: must be at least %s", interval, topIntervalLeast)
			}
			return nil
		},
		run: func(r *call) error {
			reader, err := c.topReader()
			if err != nil {
				return err
			}
			stdin, isFile := c.Stdin.(*os.File)
			if once || !r.format.forPeople() || !isFile || !term.IsTerminal(stdin) || term.ScreenOf(c.Stdout, c.Getenv("TERM")) == nil {
				s, notice, err := reader.read(r.ctx, top.Request{All: true})
				if err != nil {
					return err
				}
				if notice != "" {
					c.tell("%s", api.Printable(notice, 400))
				}
				return r.show(s, func(p *term.Page) { top.Write(p, s) })
			}
			return c.watchTop(r.ctx, reader, stdin, interval)
		},
	}
}

// topReading is the outcome of one reading.
type topReading struct {
	snapshot *top.Snapshot
	notice   string
	err      error
	took     time.Duration
}

// topRest is how much longer than a reading the pause after it is at least, so that the display
// costs the servers little however large the cluster is.
const topRest = 10

// watchTop shows the cluster until the user quits.
func (c *cli) watchTop(ctx context.Context, reader *topReader, tty *os.File, interval time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	restore, sizes, err := term.Raw(ctx, tty)
	if err != nil {
		return err
	}
	defer restore()
	screen := term.EnterFull(c.Stdout)
	defer screen.Close()
	input := make(chan []byte)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		defer cancel() // without a terminal, nobody watches
		term.ReadInput(ctx, tty, input)
	})
	readings := make(chan topReading)
	var model top.Model
	style := c.stdoutStyle()
	size := api.TerminalSize{Width: 80, Height: 24}
	var next <-chan time.Time
	stop := func() {}
	defer func() { stop() }()
	read := func() {
		stop()
		var one context.Context
		one, stop = context.WithCancel(ctx)
		next = nil
		request := model.Request()
		running.Go(func() {
			begin := time.Now()
			s, notice, err := reader.read(one, request)
			select {
			case readings <- topReading{s, notice, err, time.Since(begin)}:
			case <-one.Done():
			}
		})
	}
	read()
	for {
		screen.Draw(model.Lines(style, c.Now(), size.Width, size.Height))
		select {
		case <-ctx.Done():
			return nil
		case size = <-sizes:
		case <-next:
			read()
		case got := <-readings:
			if got.err != nil {
				model.Fail(got.err.Error())
			} else {
				model.Show(got.snapshot, got.notice)
			}
			pause := interval
			if got.err == nil && got.notice == "" { // a problem ends sooner than a pause after a slow answer
				pause = max(interval, topRest*got.took)
			}
			next = time.After(pause)
		case typed := <-input:
			again := false
			for _, key := range top.Keys(typed) {
				again = model.Press(key) || again
			}
			if model.Quit {
				return nil
			}
			if again {
				read()
			}
		}
	}
}
