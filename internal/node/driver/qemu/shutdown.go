// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package qemu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// monitorName is the socket of the machine's monitor, in the directory of the task's secrets.
const monitorName = ".qemu-monitor"

// monitorTimeout bounds a conversation with a monitor, and maxAnswer what it says, in bytes.
const (
	monitorTimeout = 5 * time.Second
	maxAnswer      = 64 << 10
)

// A handle is a machine that is asked to power off before it is killed.
type handle struct {
	driver.Handle
	secrets string // directory with the monitor's socket
}

// watched returns the handle of a task: with graceful_shutdown, one whose Stop asks the machine.
func watched(h driver.Handle, t *driver.Task) driver.Handle {
	if graceful, _ := t.ConfigBool("graceful_shutdown"); h == nil || !graceful {
		return h
	}
	return &handle{h, t.Dir.Secrets}
}

// Stop asks the machine to power off. If it has not after the timeout, or cannot be asked, Stop continues as for other
// tasks.
func (h *handle) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	begun := time.Now()
	if timeout > 0 && powerDown(ctx, h.secrets) == nil {
		off, cancel := context.WithTimeout(ctx, timeout)
		h.Wait(off)
		cancel()
	}
	return h.Handle.Stop(ctx, signal, max(0, timeout-time.Since(begun)))
}

// powerDown presses the power button of a machine. The emulator can replace its socket, and answer anything.
func powerDown(ctx context.Context, secrets string) error {
	fd, err := openSocket(secrets)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	d := net.Dialer{Timeout: monitorTimeout}
	conn, err := d.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(monitorTimeout))
	answers := json.NewDecoder(io.LimitReader(conn, maxAnswer))
	var greeting struct{ QMP *json.RawMessage }
	if err := answers.Decode(&greeting); err != nil {
		return err
	}
	if greeting.QMP == nil {
		return errors.New("the monitor of the machine does not answer as QEMU does")
	}
	for _, command := range []string{"qmp_capabilities", "system_powerdown"} {
		if _, err := fmt.Fprintf(conn, "{\"execute\": %q}\n", command); err != nil {
			return err
		}
		if err := readResult(answers); err != nil {
			return err
		}
	}
	return nil
}

// readResult reads the answer to a command. Events may come before it.
func readResult(answers *json.Decoder) error {
	for {
		var answer struct {
			Return *json.RawMessage
			Error  *struct{ Desc string }
		}
		if err := answers.Decode(&answer); err != nil {
			return err
		}
		switch {
		case answer.Error != nil:
			return errors.New(answer.Error.Desc)
		case answer.Return != nil:
			return nil
		}
	}
}

// openSocket opens the socket of a monitor by a handle, and follows no link.
func openSocket(dir string) (int, error) {
	at, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(at)
	fd, err := unix.Openat(at, monitorName, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: monitorName, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		unix.Close(fd)
		return -1, fmt.Errorf("%s is not a socket", monitorName)
	}
	return fd, nil
}
