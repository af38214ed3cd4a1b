// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/reeve-run/reeve/api"
)

// Raw passes every key of a terminal on unchanged, and sends the terminal's size now and
// after every change. restore resets the terminal.
func Raw(ctx context.Context, tty *os.File) (restore func(), sizes <-chan api.TerminalSize, err error) {
	fd := int(tty.Fd())
	if !term.IsTerminal(fd) {
		return func() {}, nil, nil
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, fmt.Errorf("set the terminal to raw mode: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	out := make(chan api.TerminalSize)
	done := make(chan struct{})
	go func() {
		defer close(done)
		sendSizes(ctx, fd, changed, out)
	}()
	return func() {
		cancel()
		<-done
		signal.Stop(changed)
		term.Restore(fd, before)
	}, out, nil
}

func sendSizes(ctx context.Context, fd int, changed <-chan os.Signal, out chan<- api.TerminalSize) {
	for {
		if width, height, err := term.GetSize(fd); err == nil {
			select {
			case out <- api.TerminalSize{Height: height, Width: width}:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
