// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/client"
)

// A server is the scenario's own server: a separate process, so that its memory and processor
// time can be measured apart from the simulator's.
type server struct {
	cmd     *exec.Cmd
	dir     string
	keep    bool
	address string
	exited  chan struct{}
}

// patience bounds the server's time to its first answer, and to its end.
const patience = 20 * time.Second

func startServer(ctx context.Context, s Server, o Options) (_ *server, err error) {
	v := &server{dir: o.KeepData, keep: o.KeepData != "", exited: make(chan struct{})}
	if !v.keep {
		if v.dir, err = os.MkdirTemp("", "reeve-sim-"); err != nil {
			return nil, fmt.Errorf("make a data directory: %w", err)
		}
	}
	defer func() {
		if err != nil {
			v.stop()
		}
	}()
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config, err := v.writeConfig(s)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(v.logFile())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	v.address = "http://" + address
	args := []string{"agent", "-server", "-config", config, "-data-dir", filepath.Join(v.dir, "data"), "-http-addr", address, "-log-level", "warn"}
	if o.Links > 0 {
		args = append(args, "-bootstrap") // with certificates
	}
	cmd := exec.Command(o.Binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if s.MemoryLimit != "" {
		cmd.Env = append(os.Environ(), "GOMEMLIMIT="+s.MemoryLimit)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	v.cmd = cmd
	go func() {
		cmd.Wait()
		close(v.exited)
	}()
	return v, v.await(ctx)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (v *server) logFile() string { return filepath.Join(v.dir, "server.log") }

// writeConfig writes the settings without a flag.
func (v *server) writeConfig(s Server) (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "server {\n  enabled = true\n")
	if s.HeartbeatTTL > 0 {
		fmt.Fprintf(&b, "  min_heartbeat_ttl = %q\n", s.HeartbeatTTL)
	}
	if s.HeartbeatGrace > 0 {
		fmt.Fprintf(&b, "  heartbeat_grace = %q\n", s.HeartbeatGrace)
	}
	if s.Workers > 0 {
		fmt.Fprintf(&b, "  num_schedulers = %d\n", s.Workers)
	}
	b.WriteString("}\n")
	path := filepath.Join(v.dir, "server.hcl")
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

// await returns when the server is the leader.
func (v *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.New(client.Config{Address: v.address})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		leader, err := c.Status().Leader(ctx)
		if err == nil && leader != "" {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-v.exited:
			return fmt.Errorf("the server ended: %s", v.lastWords())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the server does not answer: %w", ctx.Err()), err)
		}
	}
}

// lastWords returns the end of the server's log.
func (v *server) lastWords() string {
	text, err := os.ReadFile(v.logFile())
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text[max(0, len(text)-2000):]))
}

// stop stops the server and removes its data.
func (v *server) stop() {
	if v.cmd != nil {
		v.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-v.exited:
		case <-time.After(patience):
			v.cmd.Process.Kill()
			<-v.exited
		}
	}
	if !v.keep {
		os.RemoveAll(v.dir)
	}
}

// memory returns the process's current and peak resident memory, in bytes.
func (v *server) memory() (now, peak int64) {
	status, _ := os.ReadFile(v.proc("status"))
	return field(status, "VmRSS:"), field(status, "VmHWM:")
}

func field(status []byte, name string) int64 {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			kb, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// cpuTime returns the processor time of the process.
func (v *server) cpuTime() time.Duration {
	stat, _ := os.ReadFile(v.proc("stat"))
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(string(f[11]), 10, 64)
	system, _ := strconv.ParseInt(string(f[12]), 10, 64)
	return time.Duration(user+system) * (time.Second / 100)
}

func (v *server) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(v.cmd.Process.Pid), name)
}

// dataBytes returns the disk usage of the server's data, and the log's part of it.
func (v *server) dataBytes() (data, log int64) {
	filepath.WalkDir(filepath.Join(v.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		size := allocated(info)
		data += size
		if filepath.Base(filepath.Dir(path)) == "log" {
			log += size
		}
		return nil
	})
	return data, log
}

// allocated returns the disk usage of a file: a segment of the log has its maximum size, and is
// mostly sparse.
func allocated(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return min(info.Size(), st.Blocks*512)
	}
	return info.Size()
}

// written returns the number of bytes that the process wrote to the disk.
func (v *server) written() int64 {
	text, _ := os.ReadFile(v.proc("io"))
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("write_bytes:")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			return n
		}
	}
	return 0
}
