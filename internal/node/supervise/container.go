// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
)

// Containers.
//
// The runtime starts a container in the background, and ends. The container's first process has
// then lost its parent, and becomes a child of the supervisor, which is the subreaper: the
// supervisor learns its exit as it does for every task, and no helper stays.
//
// The child may exit before the supervisor knows its pid. So while the runtime works, reap keeps
// the exits of unknown children (orphans).
//
// The runtime itself runs in a control group of its own (startGroup). A supervisor that follows
// a killed one first ends everything in these, so that no runtime adds a process to a task's
// group afterwards; see reclaim.

// startPrefix begins the names of the groups in which the runtime starts containers.
const startPrefix = "start-"

// containersName is the directory of the runtime's files, with one directory for each container.
const containersName = "containers"

// runtimeTimeout bounds the start of a container, which takes tens of milliseconds on an idle
// machine.
const runtimeTimeout = 2 * time.Minute

func (s *supervisor) containerDir(id string) string {
	return filepath.Join(s.dir, containersName, groupName(id))
}

// forkContainer starts a container, and returns when its program runs.
func (s *supervisor) forkContainer(t *task, spec *Spec, output []int) error {
	dir := s.containerDir(t.id)
	if err := oci.MakeDir(dir, spec.Container); err != nil {
		return err
	}
	s.mu.Lock()
	s.adopting++
	s.mu.Unlock()
	defer s.endAdoption()
	if err := s.runRuntime(t, spec, dir, output); err != nil {
		return err
	}
	pid, err := oci.PID(dir)
	if err != nil {
		return err
	}
	return s.adopt(t, pid)
}

// runRuntime runs the runtime to its end.
func (s *supervisor) runRuntime(t *task, spec *Spec, dir string, output []int) error {
	starter, err := s.tree.Create(startPrefix+groupName(t.id), cgroup.Limits{})
	if err != nil {
		return err
	}
	defer starter.Remove()
	if err := s.setProgram(spec.Container); err != nil {
		return err
	}
	task := oci.Task{Spec: spec.Container, ID: groupName(t.id), Dir: dir}
	if ids := spec.Container.IDs; ids != nil {
		if task.Users, err = s.userNamespace(*ids); err != nil {
			return err
		}
	}
	null := int(s.devNull.Fd())
	p := process{argv: task.Run(), env: oci.Env(), dir: "/", group: starter, stdio: [3]int{null, null, null}}
	if len(output) == 2 {
		p.stdio[1], p.stdio[2] = output[0], output[1]
	}
	leave, err := p.joinNetwork(spec.Network)
	if err != nil {
		return err
	}
	p.prepare = append(p.prepare, task.Prepare)
	exits, err := s.startRuntime(&p, starter, leave)
	if err != nil {
		return err
	}
	// The first move waits for a grace period, and holds up everything that creates a group or starts a process in one. It
	// waits while the runtime gets ready.
	defer s.tree.KeepMoving()()
	timeout := time.NewTimer(runtimeTimeout)
	defer timeout.Stop()
	select {
	case ws := <-exits:
		switch {
		case ws.Exited() && ws.ExitStatus() == 0:
			return nil
		case ws.Signaled():
			return oci.Failure(dir, "signal "+unix.SignalName(ws.Signal()))
		}
		return oci.Failure(dir, fmt.Sprintf("exit code %d", ws.ExitStatus()))
	case <-timeout.C:
		ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
		defer cancel()
		return errors.Join(fmt.Errorf("the container runtime did not start the container in %s: look for a file system of the node that does not answer", runtimeTimeout), starter.Kill(ctx))
	}
}

// startRuntime starts the runtime, and calls done when that has ended, well or not. A mount of a file system that does not
// answer holds its thread for ever: then the start is given up, and the thread starts nothing when it goes on.
func (s *supervisor) startRuntime(p *process, starter *cgroup.Group, done func()) (exits chan unix.WaitStatus, err error) {
	exits = make(chan unix.WaitStatus, 1)
	right := make(chan struct{}, 1) // to start the process, or to give up: whoever takes it
	right <- struct{}{}
	p.prepare = append(p.prepare, func() error {
		select {
		case <-right:
			return nil
		default:
			return errors.New("the start was given up")
		}
	})
	closeProgram := s.runtimes.use(p)
	started, pid := make(chan error, 1), 0
	go func() {
		err := s.spawn(p, func(n, pidfd int) {
			pid = n
			unix.Close(pidfd)
		}, func(ws unix.WaitStatus) { exits <- ws })
		closeProgram()
		done()
		started <- err
	}()
	timeout := time.NewTimer(stepTimeout)
	defer timeout.Stop()
	select {
	case err = <-started:
	case <-timeout.C:
		select {
		case <-right:
			return nil, fmt.Errorf("the mounts of the container are not ready after %s: look for a file system of the node that does not answer", stepTimeout)
		case err = <-started:
		}
	}
	if err != nil {
		return nil, explainRuntime(p.argv[0], err)
	}
	if err := s.join(starter, pid); err != nil {
		s.log.Warn("cannot watch over the start of a container", "pid", pid, "error", err)
	}
	return exits, nil
}

// explainRuntime explains why a runtime was not started.
func explainRuntime(path string, err error) error {
	switch errno, failed := err.(syscall.Errno); {
	case !failed: // it says what was done
		return err
	case errno == unix.ENOENT:
		return fmt.Errorf("run %s: it does not exist: install the Debian package runc", path)
	}
	return fmt.Errorf("run %s: %w", path, err)
}

// setProgram completes the bind of the supervisor's executable.
func (s *supervisor) setProgram(c *oci.Spec) (err error) {
	for n := range c.Binds {
		if c.Binds[n].Program {
			if c.Binds[n].Source, err = s.program.path(s.dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// join moves the runtime into hierarchies in which no process can be started.
func (s *supervisor) join(g *cgroup.Group, pid int) error {
	for _, dir := range g.JoinDirs() {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(fmt.Sprint(pid)), 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// adopt makes a process, whose parent has ended, the task's main process.
func (s *supervisor) adopt(t *task, pid int) error {
	known := make(chan struct{}) // closed when the start is recorded
	failed := false
	ended := func(ws unix.WaitStatus) {
		<-known
		if !failed {
			s.finish(t, ws)
		}
	}
	defer close(known)
	s.forks.RLock() // nothing is reaped until the process is in the table
	stat, err := readStat(pid)
	ours := err == nil && stat.PPID == os.Getpid()
	s.mu.Lock()
	t.startedAt = time.Now()
	ws, gone := s.orphans[pid]
	if ours {
		if t.pidfd, err = unix.PidfdOpen(pid, 0); err == nil {
			t.pid, t.startTime = pid, stat.StartTime
			s.children[pid] = ended
		}
	} else if gone {
		t.pid, t.pidfd, err = pid, -1, nil
		s.finishing.Add(1)
		go func() { defer s.finishing.Done(); ended(ws) }()
	} else {
		err = fmt.Errorf("process %d of the container is not a child of the supervisor", pid)
	}
	s.mu.Unlock()
	s.forks.RUnlock()
	if err == nil {
		err = s.journal.put(t.status())
	}
	if err != nil {
		failed = true
		err = errors.Join(fmt.Errorf("take over the container's process: %w", err), t.killAll())
		s.mu.Lock()
		if t.pidfd >= 0 {
			unix.Close(t.pidfd)
		}
		t.pid, t.pidfd = 0, -1
		s.mu.Unlock()
	}
	return err
}

func (s *supervisor) endAdoption() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.adopting--; s.adopting == 0 {
		clear(s.orphans)
	}
}

// removeContainer removes what a container leaves besides its group: the runtime's files, and
// directories in hierarchies that only the runtime uses.
func (s *supervisor) removeContainer(id string) {
	s.tree.RemoveOthers(groupName(id))
	if err := os.RemoveAll(s.containerDir(id)); err != nil {
		s.log.Warn("cannot remove the files of a container", "task", id, "error", err)
	}
}

// containerCommand returns the process that runs a command in a container.
func (s *supervisor) containerCommand(t *task, r *execRequest) (process, error) {
	const processFile = "/proc/self/fd/3"
	session := oci.Session{Argv: r.Argv, Env: r.Env, Dir: r.Dir, TTY: r.TTY}
	argv, description, err := oci.Exec(s.containerDir(t.id), groupName(t.id), processFile, session)
	if err != nil {
		return process{}, err
	}
	fd, err := memFile("process", description)
	if err != nil {
		return process{}, err
	}
	return process{argv: argv, env: oci.Env(), dir: "/", group: &cgroup.Group{}, extra: []int{fd}, prepare: []func() error{oci.LeaveKeyring}}, nil
}

// killSession ends a command that runs in a container: the runtime's call, and the process in the
// container that is its child. The caller holds mu, and the call is not reaped.
func killSession(pid int) {
	unix.Kill(pid, unix.SIGSTOP) // so that it starts no process while its children are listed
	for _, p := range allProcesses() {
		if p.PPID == pid {
			unix.Kill(p.PID, unix.SIGKILL)
		}
	}
	unix.Kill(pid, unix.SIGKILL)
}

// userNamespace returns a user namespace that only describes a range of ids. The namespaces of
// containers have the same range.
func (s *supervisor) userNamespace(ids oci.IDs) (*os.File, error) {
	s.usersMu.Lock()
	defer s.usersMu.Unlock()
	if f := s.users[ids]; f != nil {
		return f, nil
	}
	f, err := s.makeUserNamespace(ids)
	if err != nil {
		return nil, fmt.Errorf("make a user namespace: %w", err)
	}
	s.users[ids] = f
	return f, nil
}

func (s *supervisor) makeUserNamespace(ids oci.IDs) (*os.File, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in, hold, err := inputPipe()
	if err != nil {
		unix.Close(w)
		return nil, err
	}
	defer hold.Close() // ends the process
	null := int(s.devNull.Fd())
	mapping := []syscall.SysProcIDMap{{HostID: int(ids.First), Size: int(ids.Size)}}
	p := process{
		path: "/proc/self/exe", argv: []string{"reeve", step.Idle}, dir: "/", group: &cgroup.Group{}, stdio: [3]int{in, w, null},
		attr: syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: mapping, GidMappings: mapping},
	}
	pid := 0
	err = s.spawn(&p, func(n, pidfd int) {
		pid = n
		unix.Close(pidfd)
	}, func(unix.WaitStatus) {})
	unix.Close(in)
	unix.Close(w)
	if err != nil {
		return nil, err
	}
	r.SetReadDeadline(time.Now().Add(stepTimeout))
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil { // it has not become the program yet
		return nil, fmt.Errorf("the process in it does not answer: %w", err)
	}
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", pid))
}

// CgroupPath returns the path of a task's control group below the mount points of the hierarchies.
func (c *Client) CgroupPath(id string) string {
	return "/" + filepath.Join(c.Machine().CgroupParent, groupName(id))
}
