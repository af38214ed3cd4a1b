// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// Config locates a supervisor, and configures its start.
type Config struct {
	Dir    string       // its own directory, created if missing
	Exe    string       // the executable to start, whose main calls Dispatch; "": this program's
	Logger *slog.Logger // nil: none

	// Cgroups are the cgroups that a started supervisor uses.
	Cgroups CgroupUse
}

// A Client talks to the one supervisor of a directory. When the supervisor disappears, the
// client notices immediately and connects to the next one, which it starts if necessary;
// calls wait for that. It is safe for concurrent use.
type Client struct {
	cfg    Config
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{}

	// Used only by the connecting goroutine: first Connect, then keep.
	upgraded bool // reports whether an upgrade was tried; it is tried once
	child    int  // pid of a supervisor that this client started, to be reaped

	mu      sync.Mutex
	link    *link
	changed chan struct{} // closed and replaced when link changes
	hello   helloResponse
	procs   map[string]*Process
}

var errClosed = errors.New("the supervisor's client is closed")

// Connect finds the supervisor of cfg.Dir, or starts it. A supervisor of another build is
// asked to replace itself with this build; its tasks continue.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make the supervisor's directory: %w", err)
	}
	cfg.Dir = dir
	if cfg.Exe == "" {
		if cfg.Exe, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	c := &Client{cfg: cfg, done: make(chan struct{}), changed: make(chan struct{}), procs: map[string]*Process{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	l, err := c.connect(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	go c.keep(l)
	return c, nil
}

// Close closes the client. The supervisor and its tasks continue.
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	c.reapSupervisor()
	return nil
}

// Machine returns the machine's features that the supervisor can use.
func (c *Client) Machine() Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello.Machine
}

// Dir returns the supervisor's directory.
func (c *Client) Dir() string { return c.cfg.Dir }

// PID returns the supervisor's process id, as of the newest connection.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello.PID
}

// keep maintains a link to a supervisor until Close.
func (c *Client) keep(l *link) {
	defer close(c.done)
	for {
		c.setLink(l)
		select {
		case <-l.dead:
		case <-c.ctx.Done():
		}
		c.setLink(nil)
		l.close()
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			if c.ctx.Err() != nil {
				return
			}
			var err error
			if l, err = c.connect(c.ctx); err == nil {
				break
			}
			if c.ctx.Err() != nil {
				return
			}
			c.cfg.Logger.Error("cannot connect to the supervisor", "dir", c.cfg.Dir, "error", err)
			select {
			case <-time.After(wait):
			case <-c.ctx.Done():
			}
		}
	}
}

func (c *Client) setLink(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	close(c.changed)
	c.changed = make(chan struct{})
}

// current waits for a link.
func (c *Client) current(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, changed := c.link, c.changed
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, errClosed
		}
	}
}

// connect opens a link and updates all processes from it. A supervisor that is being killed
// or upgraded may accept a connection and lose it; the next attempt reaches its successor.
func (c *Client) connect(ctx context.Context) (*link, error) {
	var err error
	for wait := time.Millisecond; wait < 2*time.Second; wait *= 2 {
		var l *link
		l, err = c.attempt(ctx)
		if err == nil || !errors.Is(err, errLinkLost) {
			return l, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, err
}

func (c *Client) attempt(ctx context.Context) (*link, error) {
	conn, err := c.openOrStart(ctx)
	if err != nil {
		return nil, err
	}
	l := newLink(conn, c.event)
	var now watchResponse
	if err = c.greet(ctx, l); err == nil {
		err = l.call(ctx, verbWatch, nil, &now)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	c.update(now.Tasks)
	return l, nil
}

func (c *Client) greet(ctx context.Context, l *link) error {
	var h helloResponse
	if err := l.call(ctx, verbHello, helloRequest{Protocol: protocolVersion, Version: buildVersion()}, &h); err != nil {
		return err
	}
	c.mu.Lock()
	c.hello = h
	c.mu.Unlock()
	if h.Protocol == protocolVersion && (h.Version == buildVersion() || c.upgraded) {
		return nil
	}
	c.upgraded = true
	c.cfg.Logger.Info("upgrading the supervisor", "from", h.Version, "to", buildVersion())
	err := l.call(ctx, verbUpgrade, upgradeRequest{Exe: c.cfg.Exe}, nil)
	switch {
	case errors.Is(err, errLinkLost):
		return err // expected: the upgraded supervisor answers the next request
	case h.Protocol == protocolVersion:
		c.cfg.Logger.Warn("the supervisor stays on its version", "error", err)
		return nil
	}
	return fmt.Errorf("the supervisor speaks protocol %d, this agent %d, and it cannot be upgraded: %w", h.Protocol, protocolVersion, err)
}

// update updates every process with its status.
func (c *Client) update(tasks []Status) {
	known := make(map[string]Status, len(tasks))
	for _, st := range tasks {
		known[st.ID] = st
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.procs {
		st, ok := known[id]
		switch {
		case ok && st.Exit != nil:
			p.end(st.Exit)
		case !ok && p.started():
			p.end(&ExitState{At: time.Now(), Lost: true})
		case ok && st.Background:
			p.leave(st)
		}
	}
}

// event handles a message that is not an answer.
func (c *Client) event(f *frame) {
	var st Status
	if f.Verb != verbStatus || decodeBody(f, &st) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p := c.procs[st.ID]; {
	case p == nil:
	case st.Exit != nil:
		p.end(st.Exit)
	case st.Background:
		p.leave(st)
	}
}

// call sends a request to the supervisor, and repeats it with the next supervisor if the
// connection is lost: all verbs may be repeated. It calls again before a repetition.
func (c *Client) call(ctx context.Context, verb string, body, answer any, again func()) error {
	for {
		l, err := c.current(ctx)
		if err != nil {
			return err
		}
		err = l.call(ctx, verb, body, answer)
		if !errors.Is(err, errLinkLost) {
			return err
		}
		select {
		case <-l.dead:
		case <-ctx.Done():
			return ctx.Err()
		}
		if again != nil {
			again()
		}
		if err := c.forget(ctx, l); err != nil {
			return err
		}
	}
}

// forget waits until l is no longer the client's link.
func (c *Client) forget(ctx context.Context, l *link) error {
	for {
		c.mu.Lock()
		same, changed := c.link == l, c.changed
		c.mu.Unlock()
		if !same {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ctx.Done():
			return errClosed
		}
	}
}

// startGrace bounds the wait for the outcome of a start after its context has ended.
const startGrace = 5 * time.Second

// Start starts a process. It returns when the program runs. A requested start completes even
// if ctx ends in the meantime: it takes a moment, and otherwise the process would be unknown
// to its caller.
func (c *Client) Start(ctx context.Context, spec *Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := outlasting(ctx, startGrace)
	defer cancel()
	p := c.track(spec.ID)
	r := startRequest{Spec: *spec}
	var st Status
	err := c.call(ctx, verbStart, &r, &st, func() { r.Again = true })
	if err != nil {
		c.untrack(p)
		return nil, err
	}
	return p, p.begin(st)
}

// outlasting returns a context that ends some time after ctx.
func outlasting(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// Attach finds a process that any client started. It returns driver.ErrTaskUnknown if no
// task has that id.
func (c *Client) Attach(ctx context.Context, id string) (*Process, error) {
	p := c.track(id)
	if p.started() {
		return p, nil
	}
	var st Status
	if err := c.call(ctx, verbStatus, taskRequest{ID: id}, &st, nil); err != nil {
		c.untrack(p)
		return nil, err
	}
	return p, p.begin(st)
}

// track directs events about id to a Process. It precedes the request, because the end of a
// task may arrive before the answer.
func (c *Client) track(id string) *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.procs[id]
	if p == nil {
		p = &Process{c: c, id: id, group: groupName(id), done: make(chan struct{}), gone: make(chan struct{})}
		c.procs[id] = p
	}
	return p
}

func (c *Client) untrack(p *Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.procs[p.id] == p && !p.started() {
		delete(c.procs, p.id)
	}
}

// List returns the status of every task that the supervisor knows.
func (c *Client) List(ctx context.Context) ([]Status, error) {
	var r watchResponse
	err := c.call(ctx, verbWatch, nil, &r, nil)
	return r.Tasks, err
}

// Kept returns the ids of all tasks that the supervisor knows.
func (c *Client) Kept(ctx context.Context) ([]string, error) {
	tasks, err := c.List(ctx)
	ids := make([]string, len(tasks))
	for i, st := range tasks {
		ids[i] = st.ID
	}
	return ids, err
}

// End stops a task, by force after the timeout, and forgets it. It succeeds for unknown
// tasks, which have ended.
func (c *Client) End(ctx context.Context, id string, timeout time.Duration) error {
	p, err := c.Attach(ctx, id)
	if err == nil {
		err = p.Stop(ctx, "", timeout)
	}
	if err == nil {
		err = p.Destroy(ctx)
	}
	if errors.Is(err, driver.ErrTaskUnknown) {
		return nil
	}
	return err
}

// Upgrade makes the supervisor replace itself with another executable; "" means the
// configured one. Tasks are not affected.
func (c *Client) Upgrade(ctx context.Context, exe string) error {
	if exe == "" {
		exe = c.cfg.Exe
	}
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	err = l.call(ctx, verbUpgrade, upgradeRequest{Exe: exe}, nil)
	if !errors.Is(err, errLinkLost) {
		return err
	}
	before := c.instance()
	if err := c.forget(ctx, l); err != nil {
		return err
	}
	if _, err := c.current(ctx); err != nil {
		return err
	}
	if c.instance() != before {
		return fmt.Errorf("the supervisor did not survive its upgrade to %s: %w", exe, driver.ErrTaskLost)
	}
	return nil
}

func (c *Client) instance() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello.Instance
}

// Shutdown stops all tasks (SIGTERM, and SIGKILL after the timeout), ends the supervisor, and
// closes the client.
func (c *Client) Shutdown(ctx context.Context, timeout time.Duration) error {
	defer c.Close()
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	defer c.cancel() // before the link closes, so that no new supervisor starts
	return l.call(ctx, verbShutdown, shutdownRequest{Timeout: timeout}, nil)
}
