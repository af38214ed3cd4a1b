// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"net/http"
	"reflect"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/state"
)

// A Capability is a permission that a caller needs. Routes declare theirs in the table.
type Capability string

// Capabilities.
const (
	Anonymous     Capability = "anonymous" // nothing of the cluster's content is shown
	ListJobs      Capability = "list-jobs"
	ReadJob       Capability = "read-job"
	ExplainJob    Capability = "explain-job"
	SubmitJob     Capability = "submit-job"
	PlanJob       Capability = "plan-job"
	RevertJob     Capability = "revert-job"
	StopJob       Capability = "deregister-job"
	EvaluateJob   Capability = "evaluate-job"
	StableJob     Capability = "stable-job"
	DispatchJob   Capability = "dispatch-job"
	ForcePeriodic Capability = "force-periodic-job"
	ScaleJob      Capability = "scale-job"
	ReadScale     Capability = "read-job-scaling"
	ListPolicies  Capability = "list-scaling-policies"
	ReadPolicy    Capability = "read-scaling-policy"
	OperatePlan   Capability = "operate-plan"
	RestartJob    Capability = "restart-job"
	DeployStack   Capability = "deploy-stack"
	ShiftStack    Capability = "shift-stack"
	LifeStack     Capability = "lifecycle-stack"
	MarkDomain    Capability = "mark-domain"

	FailDeployment    Capability = "fail-deployment"
	PauseDeployment   Capability = "pause-deployment"
	PromoteDeployment Capability = "promote-deployment"
	UnblockDeployment Capability = "unblock-deployment"
	SetAllocHealth    Capability = "set-alloc-health-deployment"

	ReadFS        Capability = "read-fs"
	ReadLogs      Capability = "read-logs"
	AllocLife     Capability = "alloc-lifecycle"
	AllocExec     Capability = "alloc-exec"
	AllocNodeExec Capability = "alloc-node-exec" // besides AllocExec, in tasks without isolation
	ReadNode      Capability = "node:read"
	ReadQuota     Capability = "quota:read"
	WriteQuota    Capability = "quota:write"
	WriteNode     Capability = "node:write"
	BeNode        Capability = "node:self"   // a node may use it for itself
	BeServer      Capability = "server:self" // for the servers of the cluster
	ReadAgent     Capability = "agent:read"
	ReadOperator  Capability = "operator:read"
	WriteOperator Capability = "operator:write"
	SaveSnapshot  Capability = "snapshot-save"
	Management    Capability = "management" // only for management tokens and operators
	Delegate      Capability = "delegate"   // of the namespace to which a policy, a token or a child namespace belongs
	OwnToken      Capability = "own-token"  // every token has it: it shows the token's own rights
)

// A route is one row of the table.
type route struct {
	Method     string // PUT also answers POST
	Pattern    string // of http.ServeMux
	Capability Capability
	Summary    string        // one sentence
	In         reflect.Type  // JSON body; nil: none
	Out        reflect.Type  // JSON answer, of a stream each piece; nil: none, or bytes
	Tables     []state.Table // what a blocking query waits for; nil: the route does not block
	List       bool          // takes prefix, filter, per_page, next_token and reverse
	Params     []string      // further query parameters, keys of paramDocs
	Stream     string        // content type of an answer that the route writes itself
	BodyLimit  int64         // bytes; 0: none is read
	BodyOK     bool          // the body may be absent
	Local      bool          // this agent answers, even without a server
	Encoded    bool          // also accepts a body of nodeproto.Media
	Strict     bool          // rejects unknown keys in the body; Nomad's routes accept them
	Nested     bool          // the id, which ends the pattern, may contain slashes, escaped or not
	Open       bool          // serves every caller, also an unknown one
	Class      limit.Class   // of requests that share a limit; see limits.go
	Nodes      nodeAccess    // the requests of nodes that it serves
	Renews     bool          // also serves nodes whose certificate has expired
	AnyServer  bool          // a server answers without asking the leader
	Leads      bool          // the leader answers, because it alone knows the answer
	Reads      bool          // changes nothing although the request has a body
	OnNode     bool          // the agent of a node answers, to which servers forward
	ForServers bool          // serves only the other servers
	Filters    bool          // leaves out objects of namespaces that the caller may not read
	Audited    bool          // allowed requests are recorded, too; see audited.go

	needs acl.Capability // of a token's policies; None: only management tokens have it
	about subject        // what it is needed for

	serve func(*call) error
}

// blocking declares the tables on which the answer of a read depends.
func (r route) blocking(tables ...state.Table) route {
	r.Tables = tables
	return r
}

// params declares further query parameters.
func (r route) params(names ...string) route {
	r.Params = names
	return r
}

// filtered declares that the read accepts list parameters although its answer is no list.
func (r route) filtered() route {
	r.List = true
	return r
}

// bodyOptional permits an empty body.
func (r route) bodyOptional() route {
	r.BodyOK = true
	return r
}

// taking declares the type of the body that a read accepts.
func (r route) taking(body reflect.Type) route {
	r.Method, r.In, r.BodyLimit = http.MethodPut, body, defaultBodyLimit
	return r
}

// upTo sets the maximum size of the body.
func (r route) upTo(bytes int64) route {
	r.BodyLimit = bytes
	return r
}

// encoded declares that the route also accepts a body in the format of agents.
func (r route) encoded() route {
	r.Encoded = true
	return r
}

// local marks a route that needs no server.
func (r route) local() route {
	r.Local = true
	return r
}

// strict rejects a body with unknown keys. Otherwise a mistyped key, such as a batch size,
// would extend the effect of the request.
func (r route) strict() route {
	r.Strict = true
	return r
}

// nested permits slashes in the id at the end of the pattern.
func (r route) nested() route {
	r.Nested = true
	return r
}

// muxPattern returns the pattern for http.ServeMux, without the method.
func (r *route) muxPattern() string {
	if r.Nested {
		return strings.TrimSuffix(r.Pattern, "}") + "...}"
	}
	return r.Pattern
}

// filtering marks a read that leaves out objects of namespaces that the caller may not read.
func (r route) filtering() route {
	r.Filters = true
	return r
}

// open marks a route that untrusted callers may use.
func (r route) open() route {
	r.Open = true
	return r
}

// limited marks a route whose callers are limited, with all routes of a class together.
func (r route) limited(class limit.Class) route {
	r.Class = class
	return r
}

// forNodes marks a route that nodes may use.
func (r route) forNodes(access nodeAccess) route {
	r.Nodes = access
	return r
}

// renewing marks a route that nodes may use although their certificate has expired.
func (r route) renewing() route {
	r.Renews = true
	return r
}

// ofLeader marks a read of what only the leader has in memory. Servers answer other reads from
// the state.
func (r route) ofLeader() route {
	r.Leads = true
	return r
}

// fromAnyServer returns the route as every server can answer it.
func (r *route) fromAnyServer() *route {
	if !r.Leads {
		return r
	}
	other := *r
	other.Leads = false
	return &other
}

// reading marks a route with a body that changes nothing.
func (r route) reading() route {
	r.Reads = true
	return r
}

// anyServer marks a route that a server answers without the leader.
func (r route) anyServer() route {
	r.AnyServer = true
	return r
}

// forServers marks a route that only the other servers of the cluster may use.
func (r route) forServers() route {
	r.ForServers = true
	return r
}

// onNode marks a route that the agent of a node answers.
func (r route) onNode() route {
	r.OnNode = true
	return r.local()
}

// read returns a route that reads one snapshot. Its function returns the answer and the
// index of its last change, even together with an error.
func read[Out any](pattern string, can Capability, summary string, f func(*call, *state.Snapshot) (Out, uint64, error)) route {
	return route{
		Method: http.MethodGet, Pattern: pattern, Capability: can, Summary: summary, Out: reflect.TypeFor[Out](),
		serve: func(c *call) error {
			return c.answerRead(func(v *state.Snapshot) (any, uint64, error) { return f(c, v) })
		},
	}
}

// answering returns a read whose function itself reads, waits and answers.
func answering[Out any](pattern string, can Capability, summary string, f func(*call) error) route {
	return route{Method: http.MethodGet, Pattern: pattern, Capability: can, Summary: summary, Out: reflect.TypeFor[Out](), serve: f}
}

// list returns a read whose answer is a page of objects, as stubs.
func list[T, S any](pattern string, can Capability, summary string, o order[T], f func(*call, *state.Snapshot) iter.Seq[T], show func(*call, *state.Snapshot, T) S) route {
	r := read(pattern, can, summary, func(c *call, v *state.Snapshot) ([]S, uint64, error) {
		page, err := pageOf(c, o, f(c, v))
		if err != nil {
			return nil, 0, err
		}
		stubs := make([]S, len(page))
		for i, object := range page {
			stubs[i] = show(c, v, object)
		}
		return stubs, v.TableIndex(c.route.Tables...), nil
	})
	r.List = true
	return r
}

// write returns a route that accepts a JSON body and calls a verb. Its function returns
// the answer and the index of the write; 0 if it wrote nothing.
func write[In, Out any](method, pattern string, can Capability, summary string, f func(*call, *In) (Out, uint64, error)) route {
	r := route{
		Method: method, Pattern: pattern, Capability: can, Summary: summary,
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](), BodyLimit: defaultBodyLimit,
		serve: func(c *call) error {
			in := new(In)
			if err := c.readBody(in); err != nil {
				return err
			}
			if err := c.permitBody(in); err != nil {
				return err
			}
			c.signBody(in)
			out, index, err := f(c, in)
			if err != nil {
				return err
			}
			return c.answerWrite(out, index)
		},
	}
	if r.In == reflect.TypeFor[none]() {
		r.In, r.BodyLimit, r.BodyOK = nil, 0, true
	}
	if r.Out == reflect.TypeFor[none]() {
		r.Out = nil
	}
	return r
}

// plain returns a route whose answer depends on neither state nor verbs.
func plain[Out any](pattern string, can Capability, summary string, f func(*call) (Out, error)) route {
	return route{
		Method: http.MethodGet, Pattern: pattern, Capability: can, Summary: summary, Out: reflect.TypeFor[Out](),
		serve: func(c *call) error {
			out, err := f(c)
			if err != nil {
				return err
			}
			return c.answerWrite(out, 0)
		},
	}
}

// raw returns a route that writes its answer itself.
func raw(method, pattern string, can Capability, summary, contentType string, f func(*call) error) route {
	return route{Method: method, Pattern: pattern, Capability: can, Summary: summary, Stream: contentType, serve: f}
}

// speaking declares the JSON types of the body and the answer of a raw route, for the
// documents; the type none means no body.
func speaking[In, Out any](r route) route {
	if in := reflect.TypeFor[In](); in != reflect.TypeFor[none]() {
		r.In = in
	}
	if out := reflect.TypeFor[Out](); out != reflect.TypeFor[none]() {
		r.Out = out
	}
	return r
}

// none is the body or answer of routes without one.
type none struct{}

// orNotFound returns the object, or an error if it does not exist.
func orNotFound[T any](object *T, format string, args ...any) (*T, error) {
	if object == nil {
		return nil, api.Errorf(api.CodeNotFound, format, args...)
	}
	return object, nil
}
