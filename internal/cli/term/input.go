// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ReadInput passes what a user types to out, one read at a time, until ctx or the terminal ends.
// It polls the terminal together with a pipe, because a blocked read of a terminal cannot be
// interrupted.
func ReadInput(ctx context.Context, tty *os.File, out chan<- []byte) error {
	ended, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ended.Close()
	stop := context.AfterFunc(ctx, func() { end.Close() })
	defer func() {
		if stop() {
			end.Close()
		}
	}()
	fds := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}, {Fd: int32(ended.Fd()), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if fds[0].Revents == 0 {
			continue
		}
		input := make([]byte, 256)
		n, err := tty.Read(input)
		if err != nil {
			return err
		}
		select {
		case out <- input[:n]:
		case <-ctx.Done():
			return nil
		}
	}
}
