// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/kms"
	"github.com/reeve-run/reeve/internal/node/artifact"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/server/backup"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/trust"
)

// DefaultHTTPAddr is the default address of an agent's HTTP API.
const DefaultHTTPAddr = "127.0.0.1:4646"

// Config configures an agent. The zero value of a field means its default.
type Config struct {
	Name       string   // of the machine; default: its host name
	Region     string   // default: "global"
	Datacenter string   // default: "dc1"
	DataDir    string   // directory of all data that must survive a restart
	HTTPAddr   string   // host:port of the API
	Hosts      []string // additional host names of the agent that requests may use
	LogLevel   string   // "debug", "info", "warn" or "error"

	// Bootstrap makes this machine the first server of a new cluster. Join names hosts
	// through which it becomes a member of one, with the token; both do nothing once it is a
	// member. Advertise is the host, or host:port, at which other members reach it.
	Bootstrap bool
	Join      []string
	JoinToken string
	// JoinTokenFile names the file with the token, or "-" for standard input. It is read only
	// by an agent that has to join.
	JoinTokenFile string
	Advertise     string
	// Founded is called when the cluster that this machine founded is ready for members. It reports
	// whether it showed the recovery key.
	Founded func(Founded) (shown bool)

	// TLS names certificates of another authority than the cluster's own.
	TLS trust.Files
	// BootstrapExpect is the number of servers that found a cluster together. It needs TLS.
	BootstrapExpect int
	RetryInterval   time.Duration // between two looks for them; default: 1 s

	Server   Server
	Client   Client
	Router   Router
	Dialects Dialects
	DNS      DNS
	Audit    Audit
	Keyring  []kms.Config // services that seal the keys of this server; none: they are in files of this machine
	Limits   Limits
	UI       UI

	Dev bool // server and node in one process, for trying Reeve

	Version string       // the agent's reported version
	Logger  *slog.Logger // default: a logger that writes to stderr at LogLevel
}

func (c Config) logger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // Validate rejects all other values
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// logLibraries sends the log of the standard library to the agent's, at level debug:
// net/http logs bytes that an instance sends unasked, so that any task could fill the log.
func logLibraries(to slog.Handler) {
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(to, slog.LevelDebug).Writer())
}

// Dialects configures other APIs for the same objects, each on its own paths.
type Dialects struct {
	// SDK enables the API of schedulers built with the DC/OS SDK: /v1/multi/, /service/,
	// and a part of /v1/service/. Nil: enabled only with Dev.
	SDK *bool
	// Nelson enables Nelson's API, below /nelson/. Nil: enabled only with Dev.
	Nelson *bool
}

// speaksNelson reports whether the agent serves Nelson's API.
func (c *Config) speaksNelson() bool {
	if c.Dialects.Nelson == nil {
		return c.Dev
	}
	return *c.Dialects.Nelson
}

// speaksSDK reports whether the agent serves the API of the DC/OS SDK's schedulers.
func (c *Config) speaksSDK() bool {
	if c.Dialects.SDK == nil {
		return c.Dev
	}
	return *c.Dialects.SDK
}

// Server configures the part that stores the state and schedules.
type Server struct {
	Enabled               bool
	Workers               int           // number of concurrent workers; default: 16 per processor; negative: none
	JobTypes              []string      // types of jobs whose evaluations they process; none: all
	OIDCIssuer            string        // address at which others find the keys of tasks' identities; "": none
	ElectionTimeout       time.Duration // silence of the leader after which the others elect another one; default: 1 s
	HeartbeatTTL          time.Duration // time within which a node must send a heartbeat
	HeartbeatGrace        time.Duration // additional time before the node counts as lost
	MassLoss              control.MassLoss
	EvaluationGCThreshold time.Duration
	BatchEvalGCThreshold  time.Duration
	GCInterval            time.Duration
	JobGCThreshold        time.Duration
	DeploymentGCThreshold time.Duration
	NodeGCThreshold       time.Duration
	RestartGCThreshold    time.Duration
	StackSweepInterval    time.Duration // between two sweeps of stacks; default: control.SweepInterval
	SavesSnapshots        bool          // on a schedule
	Snapshots             backup.Config // the schedule
}

// thresholds returns the garbage collector's thresholds, with defaults for unset ones.
func (s Server) thresholds() control.Thresholds {
	t := control.DefaultThresholds
	override(&t.Evaluation, s.EvaluationGCThreshold)
	override(&t.BatchEval, s.BatchEvalGCThreshold)
	override(&t.Interval, s.GCInterval)
	override(&t.Job, s.JobGCThreshold)
	override(&t.Deployment, s.DeploymentGCThreshold)
	override(&t.Node, s.NodeGCThreshold)
	override(&t.Restart, s.RestartGCThreshold)
	return t
}

// Client configures the part that runs tasks.
type Client struct {
	Enabled       bool
	Servers       []string // addresses of servers' APIs; default: this agent's own if it is a server
	NodeClass     string
	NodePool      string // "": that of its introduction token, or "default"
	Meta          map[string]string
	Reserved      api.NodeReserved
	ReservedCores []uint16 // ids of cores that are never dedicated to tasks
	Devices       []device.Declared
	CDISpecDirs   []string // of specifications of devices; nil: device.DefaultSpecDirs
	HostNetworks  []api.HostNetwork
	HostVolumes   map[string]*api.HostVolumeInfo // directories that tasks may use, by name
	VolumesDir    string                         // of dynamic volumes; default: in the data directory
	VolumePlugins string                         // directory of their plugins; default: in the data directory
	Container     container.Config               // the driver of OCI images
	RawExec       rawexec.Config                 // what tasks without isolation may do
	ExecUsers     api.DriverUsers                // users of isolated tasks
	Docker        docker.Config                  // Dir: set by the agent
	MaxAllocsKept int                            // number of ended allocations whose directories are kept
	PluginDir     string                         // of programs that provide secrets; default: in the data directory
	Artifact      artifact.Config                // Dir: set by the node
	Bridge        Bridge
}

// DevConfig returns the configuration for one user on one machine: server and node together,
// on loopback. The caller sets DataDir.
func DevConfig() Config {
	return Config{
		Dev: true, HTTPAddr: DefaultHTTPAddr, LogLevel: "info",
		Server: Server{Enabled: true}, Client: Client{Enabled: true},
	}
}

// A fileConfig is a configuration file. Its names are those of Nomad's agent where both have
// the setting.
type fileConfig struct {
	Name       string `hcl:"name,optional"`
	Region     string `hcl:"region,optional"`
	Datacenter string `hcl:"datacenter,optional"`
	DataDir    string `hcl:"data_dir,optional"`
	BindAddr   string `hcl:"bind_addr,optional"`
	Advertise  string `hcl:"advertise_addr,optional"`
	// JoinTokenFile names the file with the token for joining.
	JoinTokenFile string        `hcl:"join_token_file,optional"`
	LogLevel      string        `hcl:"log_level,optional"`
	Ports         *filePorts    `hcl:"ports,block"`
	Server        *fileServer   `hcl:"server,block"`
	Client        *fileClient   `hcl:"client,block"`
	Router        *fileRouter   `hcl:"router,block"`
	Dialects      *fileDialects `hcl:"dialects,block"`
	DNS           *fileDNS      `hcl:"dns,block"`
	Audit         *fileAudit    `hcl:"audit,block"`
	Keyring       []fileKeyring `hcl:"keyring,block"`
	Limits        *fileLimits   `hcl:"limits,block"`
	HTTP          *fileHTTP     `hcl:"http,block"`
	UI            *fileUI       `hcl:"ui,block"`
	TLS           *fileTLS      `hcl:"tls,block"`
}

type fileHTTP struct {
	Hosts []string `hcl:"hosts,optional"`
}

type fileDialects struct {
	SDK    *bool `hcl:"sdk,optional"`
	Nelson *bool `hcl:"nelson,optional"`
}

type filePorts struct {
	HTTP int `hcl:"http,optional"`
}

type fileServer struct {
	Enabled               bool           `hcl:"enabled,optional"`
	OIDCIssuer            string         `hcl:"oidc_issuer,optional"`
	Workers               *int           `hcl:"num_schedulers,optional"`
	JobTypes              []string       `hcl:"enabled_schedulers,optional"`
	HeartbeatTTL          string         `hcl:"min_heartbeat_ttl,optional"`
	HeartbeatGrace        string         `hcl:"heartbeat_grace,optional"`
	ElectionTimeout       string         `hcl:"election_timeout,optional"`
	RaftMultiplier        int            `hcl:"raft_multiplier,optional"`
	EvaluationGCThreshold string         `hcl:"eval_gc_threshold,optional"`
	BatchEvalGCThreshold  string         `hcl:"batch_eval_gc_threshold,optional"`
	GCInterval            string         `hcl:"job_gc_interval,optional"`
	JobGCThreshold        string         `hcl:"job_gc_threshold,optional"`
	DeploymentGCThreshold string         `hcl:"deployment_gc_threshold,optional"`
	NodeGCThreshold       string         `hcl:"node_gc_threshold,optional"`
	RestartGCThreshold    string         `hcl:"restart_gc_threshold,optional"`
	StackSweepInterval    string         `hcl:"stack_sweep_interval,optional"`
	Bootstrap             bool           `hcl:"bootstrap,optional"`
	BootstrapExpect       int            `hcl:"bootstrap_expect,optional"`
	MassLoss              *fileMassLoss  `hcl:"mass_loss,block"`
	Join                  *fileJoin      `hcl:"server_join,block"`
	Snapshots             *fileSnapshots `hcl:"snapshots,block"`
}

type fileMassLoss struct {
	Fraction float64 `hcl:"fraction,optional"`
	Nodes    int     `hcl:"nodes,optional"`
	Rate     float64 `hcl:"rate,optional"`
}

type fileReserved struct {
	CPU    uint64 `hcl:"cpu,optional"`
	Memory uint64 `hcl:"memory,optional"`
	Disk   uint64 `hcl:"disk,optional"`
	Ports  string `hcl:"reserved_ports,optional"`
	Cores  string `hcl:"cores,optional"`
}

// LoadConfig reads configuration files (HCL, or JSON for *.json) and all *.hcl and *.json files
// of directories, in order; later ones override earlier ones. Every error has its file, line
// and column.
func LoadConfig(paths []string) (Config, error) {
	var c Config
	for _, path := range paths {
		files, err := expand(path)
		if err != nil {
			return Config{}, err
		}
		for _, file := range files {
			if err := c.mergeFile(file); err != nil {
				return Config{}, err
			}
		}
	}
	return c, nil
}

func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "configuration %s cannot be read: %v", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*.hcl", "*.json"} {
		found, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return files, nil
}

func (c *Config) mergeFile(path string) error {
	parser := hclparse.NewParser()
	parse := parser.ParseHCLFile
	if strings.HasSuffix(path, ".json") {
		parse = parser.ParseJSONFile
	}
	file, diags := parse(path)
	var f fileConfig
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &f)
	}
	if diags.HasErrors() {
		return configError(parser, diags)
	}
	override(&c.Name, f.Name)
	override(&c.Region, f.Region)
	override(&c.Datacenter, f.Datacenter)
	override(&c.DataDir, f.DataDir)
	override(&c.LogLevel, f.LogLevel)
	c.mergeAddress(f)
	if err := c.mergeCluster(path, f); err != nil {
		return err
	}
	if f.HTTP != nil && len(f.HTTP.Hosts) > 0 {
		c.Hosts = f.HTTP.Hosts
	}
	if s := f.Server; s != nil {
		c.Server.Enabled = c.Server.Enabled || s.Enabled
		if err := c.Server.setIssuer(path, s); err != nil {
			return err
		}
		if err := c.Server.setWorkers(path, s); err != nil {
			return err
		}
		if err := c.Server.setElections(path, s); err != nil {
			return err
		}
		for _, d := range []struct {
			name, text string
			into       *time.Duration
		}{
			{"min_heartbeat_ttl", s.HeartbeatTTL, &c.Server.HeartbeatTTL},
			{"heartbeat_grace", s.HeartbeatGrace, &c.Server.HeartbeatGrace},
			{"eval_gc_threshold", s.EvaluationGCThreshold, &c.Server.EvaluationGCThreshold},
			{"batch_eval_gc_threshold", s.BatchEvalGCThreshold, &c.Server.BatchEvalGCThreshold},
			{"job_gc_interval", s.GCInterval, &c.Server.GCInterval},
			{"job_gc_threshold", s.JobGCThreshold, &c.Server.JobGCThreshold},
			{"deployment_gc_threshold", s.DeploymentGCThreshold, &c.Server.DeploymentGCThreshold},
			{"node_gc_threshold", s.NodeGCThreshold, &c.Server.NodeGCThreshold},
			{"restart_gc_threshold", s.RestartGCThreshold, &c.Server.RestartGCThreshold},
			{"stack_sweep_interval", s.StackSweepInterval, &c.Server.StackSweepInterval},
		} {
			if d.text == "" {
				continue
			}
			v, err := time.ParseDuration(d.text)
			if err != nil || v <= 0 {
				return api.Errorf(api.CodeInvalid, "%s: server: %s = %q: must be a duration above 0, such as \"30s\"", path, d.name, d.text)
			}
			*d.into = v
		}
		if err := c.Server.mergeMassLoss(path, s.MassLoss); err != nil {
			return err
		}
		if err := c.Server.mergeSnapshots(path, s.Snapshots); err != nil {
			return err
		}
	}
	if err := c.Router.merge(path, f.Router); err != nil {
		return err
	}
	if err := c.mergeKeyring(path, f.Keyring); err != nil {
		return err
	}
	if err := c.Audit.merge(path, f.Audit); err != nil {
		return err
	}
	if err := c.Limits.merge(path, f.Limits); err != nil {
		return err
	}
	c.UI.merge(f.UI)
	if d := f.Dialects; d != nil {
		c.Dialects.SDK, c.Dialects.Nelson = cmp.Or(d.SDK, c.Dialects.SDK), cmp.Or(d.Nelson, c.Dialects.Nelson)
	}
	if f.DNS != nil {
		if err := c.DNS.merge(f.DNS); err != nil {
			return api.Errorf(api.CodeInvalid, "%s: dns: %v", path, err)
		}
	}
	if k := f.Client; k != nil {
		c.Client.Enabled = c.Client.Enabled || k.Enabled
		if err := c.Client.merge(k); err != nil {
			return api.Errorf(api.CodeInvalid, "%s: client: %v", path, err)
		}
	}
	return nil
}

func (s *Server) mergeMassLoss(path string, f *fileMassLoss) error {
	if f == nil {
		return nil
	}
	if f.Fraction < 0 || f.Fraction > 1 || f.Rate < 0 || f.Nodes < 0 {
		return api.Errorf(api.CodeInvalid, "%s: server: mass_loss: fraction must be from 0 to 1, nodes and rate must not be negative", path)
	}
	if s.MassLoss == (control.MassLoss{}) {
		s.MassLoss = control.DefaultMassLoss
	}
	override(&s.MassLoss.Fraction, f.Fraction)
	override(&s.MassLoss.Nodes, f.Nodes)
	override(&s.MassLoss.Rate, f.Rate)
	return nil
}

func configError(parser *hclparse.Parser, diags hcl.Diagnostics) error {
	e := api.Errorf(api.CodeInvalid, "the configuration is not valid")
	for _, d := range diags {
		where := ""
		if d.Subject != nil {
			where = fmt.Sprintf("%s:%d:%d: ", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column)
		}
		e.Detail = append(e.Detail, where+d.Summary+": "+d.Detail)
	}
	return e
}

// Validate sets the defaults, and reports all errors.
func (c *Config) Validate() error {
	if c.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return api.Errorf(api.CodeInvalid, "this machine has no host name (%v): give name in the configuration", err)
		}
		c.Name = name
	}
	fallback(&c.Region, "global")
	fallback(&c.Datacenter, "dc1")
	c.fillCluster()
	fallback(&c.HTTPAddr, DefaultHTTPAddr)
	fallback(&c.LogLevel, "info")
	var problems []string
	if !c.Server.Enabled && !c.Client.Enabled {
		problems = append(problems, "the agent is neither a server nor a client: set enabled = true in server { } or client { }, or use -dev")
	}
	if c.Server.Enabled && c.Server.Workers < 0 && !c.inCluster() {
		problems = append(problems, "server.num_schedulers is 0 (or enabled_schedulers names no type of job), and this server is the only one, so nothing would be placed: remove the line, or form a cluster")
	}
	if c.Client.Enabled && !c.Server.Enabled && len(c.Client.Servers) == 0 && !c.inCluster() {
		problems = append(problems, "the client knows no server: join a cluster with -join HOST, or with server_join { retry_join = [\"10.0.0.1\"] }")
	}
	problems = append(problems, c.clusterProblems()...)
	if c.DataDir == "" {
		problems = append(problems, "data_dir is missing: name a directory for what must survive a restart, or use -data-dir")
	} else if abs, err := filepath.Abs(c.DataDir); err == nil {
		c.DataDir = abs
	}
	host, port, err := net.SplitHostPort(c.HTTPAddr)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
		problems = append(problems, fmt.Sprintf("HTTP address %q: must be HOST:PORT, as in %s", c.HTTPAddr, DefaultHTTPAddr))
	} else if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !c.inCluster() {
		problems = append(problems, fmt.Sprintf("HTTP address %q: other machines may reach it, and this agent has no certificates: found a cluster with -bootstrap, join one with -join HOST, or use a loopback address", c.HTTPAddr))
	}
	if _, err := door.New(door.Config{Hosts: c.Hosts}); err != nil {
		problems = append(problems, err.Error())
	}
	problems = append(problems, c.Router.problems()...)
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		problems = append(problems, fmt.Sprintf("log_level %q: must be debug, info, warn or error", c.LogLevel))
	}
	problems = append(problems, c.DNS.problems()...)
	if len(problems) > 0 {
		e := api.Errorf(api.CodeInvalid, "the configuration is not valid")
		e.Detail = problems
		return e
	}
	return nil
}
