// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// Sources are the parts of an agent that measure. Nil functions are parts that the agent does not
// have: their series are absent.
type Sources struct {
	Host    string // value of the label host; "": no label
	Version string

	State  func() *state.Snapshot
	Server func() server.Figures
	Node   func() *Node
	Router func() *Router

	// CertificateExpiry and CAExpiry return the times at which the agent's certificate and the
	// newest root certificate expire; nil, or a zero time: the agent has none.
	CertificateExpiry, CAExpiry func() time.Time

	// Audit returns the numbers of records of requests that the agent wrote, and that it dropped; nil: it
	// keeps none.
	Audit func() (written, dropped uint64)
	// AuditSinks returns the places to which the agent copies its records; nil: it has none.
	AuditSinks func() []*api.AuditSink

	Logger *slog.Logger // nil discards
}

// OfServer returns the sources of an agent that is only a server; nil: of one without any part.
func OfServer(s *server.Server, host, version string) Sources {
	out := Sources{Host: host, Version: version}
	if s != nil {
		out.State, out.Server = s.Store().Snapshot, s.Figures
	}
	return out
}

// Limits bound the number of series.
type Limits struct {
	Groups int // groups of jobs with series of their own, seven each
	Stacks int // stacks with series of their own, three each, of which one is a summary
	Cores  int // cores with series of their own, two each
	Tasks  int // tasks with series of their own, twenty each
}

// DefaultLimits are the limits of a registry. They allow about 9,000 series, and 20,000 of tasks.
var DefaultLimits = Limits{Groups: 1000, Stacks: 200, Cores: 128, Tasks: 1000}

// A Registry holds the series of one agent.
type Registry struct {
	sources Sources
	limits  Limits
	started time.Time
	gather  *prometheus.Registry
	series  map[string]*Series          // by Prometheus' name
	descs   map[string]*prometheus.Desc // by the name in JSON, without tags
	census  state.Census

	requests, queries, failures atomic.Uint64
	limited                     []atomic.Uint64 // by class
}

// New returns a registry of the sources. A second registry is independent of the first.
func New(sources Sources, limits Limits) *Registry {
	if sources.Logger == nil {
		sources.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{
		sources: sources, limits: limits, started: time.Now(), gather: prometheus.NewRegistry(),
		series: map[string]*Series{}, descs: map[string]*prometheus.Desc{}, limited: make([]atomic.Uint64, len(limit.Classes())+1),
	}
	for _, s := range All() {
		r.series[s.Prometheus()] = s
		r.descs[s.Name] = r.describe(s, nil)
	}
	r.gather.MustRegister(collector{r})
	return r
}

// describe returns the description of a series with additional labels.
func (r *Registry) describe(s *Series, more []string) *prometheus.Desc {
	var host prometheus.Labels
	if r.sources.Host != "" {
		host = prometheus.Labels{"host": Label(r.sources.Host)}
	}
	return prometheus.NewDesc(s.Prometheus(), s.Help, append(s.Labels[:len(s.Labels):len(s.Labels)], more...), host)
}

// Request counts an HTTP request.
func (r *Registry) Request(reads bool) {
	r.requests.Add(1)
	if reads {
		r.queries.Add(1)
	}
}

// Failure counts an HTTP request that failed because of the agent.
func (r *Registry) Failure() { r.failures.Add(1) }

// Limited counts an HTTP request that exceeds a rate limit.
func (r *Registry) Limited(class limit.Class) { r.limited[class].Add(1) }

// families measures. A series that the library rejects is left out and logged, because one bad name
// must not hide all other series.
func (r *Registry) families() []*dto.MetricFamily {
	families, err := r.gather.Gather()
	if err != nil {
		r.sources.Logger.Warn("some metrics are left out", "error", err)
	}
	return families
}

// WriteText measures, and writes Prometheus' text.
func (r *Registry) WriteText(w io.Writer) error {
	for _, f := range r.families() {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}

// Summary measures, and returns the same series in Nomad's form.
func (r *Registry) Summary(now time.Time) *api.MetricsSummary {
	return r.summarize(r.families(), now)
}
