// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package container runs tasks in containers of OCI images, without a daemon: the node pulls the
// image, and the supervisor runs the container with runc.
//
// The package decides what a container is: its image, root, processes, privileges and files. How
// it is started and kept is the supervisor's concern.
package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// Config configures the driver. The zero Config has useful defaults.
type Config struct {
	Runtime         string   // path or name of runc; "": found in PATH
	AllowCaps       []string // capabilities that jobs may add; nil: DefaultCapabilities
	AllowPrivileged bool     // permits privileged, devices, host namespaces and unconfined containers
	Volumes         bool     // permits mounts of absolute paths of the node
	MaxProcesses    int64    // per container; 0: 4096, negative: no limit
	IDs             oci.IDs  // host ids of containers' users; zero: DefaultIDs
	HostUsers       bool     // no user namespaces
	ImageDir        string   // directory of image layouts for image = "oci:PATH"; "": only below the task's directory
	Insecure        []string // registries without TLS
	AuthFile        string   // Docker's config.json
	AuthHelper      string   // X of docker-credential-X
	Collection      store.Policy
	NoPrefetch      bool              // images are pulled only when a task starts
	Transport       http.RoundTripper // to registries; nil: the network
}

// DefaultIDs is the range of host ids that containers have unless the operator sets another one.
// No tool assigns such high ids to users.
func DefaultIDs() oci.IDs { return oci.IDs{First: 1 << 30, Size: 1 << 16} }

// Driver is the container driver.
type Driver struct {
	c      *supervise.Client
	cfg    Config
	log    *slog.Logger
	images *image.Puller // nil if the store cannot be used
	broken error         // why images is nil

	nextLook atomic.Int64 // Unix nanoseconds of the next look at the disk

	mu      sync.Mutex
	machine *machine // result of the first probe
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver with its store of images in dir. The caller keeps ownership of c. A store
// that cannot be opened makes the driver unhealthy.
func New(c *supervise.Client, dir string, cfg Config, log *slog.Logger) *Driver {
	if cfg.AllowCaps == nil {
		cfg.AllowCaps = DefaultCapabilities()
	}
	if cfg.MaxProcesses == 0 {
		cfg.MaxProcesses = 4096
	}
	if cfg.IDs == (oci.IDs{}) {
		cfg.IDs = DefaultIDs()
	}
	if cfg.Collection == (store.Policy{}) {
		cfg.Collection = store.Policy{High: 0.85, Low: 0.75, Keep: 3 * time.Minute}
	}
	d := &Driver{c: c, cfg: cfg, log: log}
	if !c.Machine().Root {
		d.broken = errors.New("the container driver needs the agent to run as root")
		return d
	}
	s, err := store.Open(dir, log)
	if err != nil {
		d.broken = err
		return d
	}
	d.images = &image.Puller{
		Store: s, Client: registry.NewClient(registry.Options{Insecure: cfg.Insecure, Transport: cfg.Transport}),
		Keychain: registry.Keychain{File: cfg.AuthFile, Helper: cfg.AuthHelper},
	}
	return d
}

// Config returns the driver's configuration with its defaults. It must not be changed.
func (d *Driver) Config() *Config { return &d.cfg }

// Name returns "container".
func (d *Driver) Name() string { return api.DriverContainer }

// View returns the directories at the top of the container's root. Its /tmp is the image's.
func (d *Driver) View(driver.Dir) driver.Dir {
	return driver.Dir{Alloc: "/alloc", Task: "/", Local: "/local", Secrets: "/secrets", Tmp: "/tmp"}
}

// Start pulls the image if necessary, and starts the container.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	config, problems := api.ParseContainerConfig(t.Config)
	if len(problems) > 0 {
		return nil, fmt.Errorf("config %s", problems[0])
	}
	return d.StartConfig(ctx, t, config)
}

// StartConfig is Start with a parsed config block. It changes the config.
func (d *Driver) StartConfig(ctx context.Context, t *driver.Task, config *api.ContainerConfig) (driver.Handle, error) {
	m, err := d.probe(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.check(t, m, config); err != nil {
		return nil, err
	}
	config.UseDNS(t.DNS)
	i, err := d.obtain(ctx, t, config)
	if err != nil {
		return nil, err
	}
	h, err := d.run(ctx, t, config, m, i)
	if err != nil {
		return nil, errors.Join(err, d.images.Store.Release(t.ID), removeFiles(t.Dir))
	}
	return h, nil
}

// check rejects what the operator does not permit, and adapts the config to the machine.
func (d *Driver) check(t *driver.Task, m *machine, config *api.ContainerConfig) error {
	if t.Daemon {
		return errors.New("a container cannot be a daemon: it ends with its first process; let the program stay in the foreground")
	}
	if err := d.cfg.Permit(config); err != nil {
		return err
	}
	if t.Network != nil && config.NetworkMode != "" {
		return fmt.Errorf("config network_mode %q: the task uses the network of its group; remove network_mode", config.NetworkMode)
	}
	config.UsersHost = config.UsersHost || config.Privileged || config.PIDHost || !m.users // the host's processes need the host's users
	return nil
}

func (d *Driver) run(ctx context.Context, t *driver.Task, config *api.ContainerConfig, m *machine, i *store.Image) (driver.Handle, error) {
	img, err := readImage(i, d.images.Store)
	if err != nil {
		return nil, err
	}
	p := plan{task: t, config: config, image: img, machine: m, limits: d.limits(t, config), cgroup: d.c.CgroupPath(t.ID)}
	if p.user, err = img.user(cmp.Or(t.User, img.config.User), config.GroupAdd); err != nil {
		return nil, err
	}
	if !config.UsersHost {
		p.ids = &d.cfg.IDs
	}
	if err := p.makeFiles(); err != nil {
		return nil, err
	}
	if err := p.own(); err != nil {
		return nil, err
	}
	spec, err := p.spec()
	if err != nil {
		return nil, err
	}
	process, err := d.c.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &handle{Process: process, d: d, t: t, stopSignal: img.config.StopSignal}, nil
}

// own gives the task's directories to the container's user. On the disk a user has the number
// that the container sees: the mounts of a user namespace convert it.
func (p *plan) own() error {
	if p.user.uid == 0 && p.user.gid == 0 {
		return nil
	}
	return Own(p.task, int(p.user.uid), int(p.user.gid))
}

// Own gives a task's own directories, its secrets and its templates to a user.
func Own(t *driver.Task, uid, gid int) error {
	dir := t.Dir
	for _, d := range []string{dir.Local, dir.Secrets} {
		if err := beneath.Chown(d, uid, gid); err != nil {
			return fmt.Errorf("give the task's directory to its user: %w", err)
		}
	}
	if err := ownFiles(dir.Secrets, uid, gid); err != nil || t.Own == nil {
		return err
	}
	return t.Own(uid, gid)
}

// Recover finds a container that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	p, err := d.c.Attach(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	h := &handle{Process: p, d: d, t: t}
	if d.images != nil {
		for _, i := range d.images.Store.Images() {
			if img, err := readImage(i, d.images.Store); err == nil && contains(i.Leases, t.ID) {
				h.stopSignal = img.config.StopSignal
			}
		}
	}
	return h, nil
}

// filesDir is the directory of a container's own files, below the task's directory. The task
// does not see it.
func filesDir(dir driver.Dir) string { return filepath.Join(dir.Task, "container") }
