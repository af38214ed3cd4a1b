// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// DefaultIdentity is the name of a task's identity for the API of the cluster.
const DefaultIdentity = "default"

// Effects of the renewal of an identity on its task.
const (
	IdentityChangeNoop    = "noop"    // the file changes
	IdentityChangeSignal  = "signal"  // and the task receives a signal
	IdentityChangeRestart = "restart" // and the task is restarted
)

// Limits of identities.
const (
	MinIdentityTTL       = time.Minute
	maxTaskIdentities    = 16
	maxIdentityAudiences = 16
	maxIdentityAudience  = 256 // bytes
)

var identityName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// MaxIdentities is the largest number of requests in an IdentitiesRequest.
const MaxIdentities = 256

// An IdentitiesRequest is a node's request for the signed tokens of tasks that it runs.
type IdentitiesRequest struct {
	Requests []*IdentityRequest // at most MaxIdentities
}

// An IdentitiesResponse has a response for each request, in the same order.
type IdentitiesResponse struct {
	Responses []*IdentityResponse
}

// An IdentityRequest asks for the signed token of a task.
type IdentityRequest struct {
	AllocID  string
	Task     string
	Identity string // name; DefaultIdentity for the one without a name
}

// An IdentityResponse is a signed token, or the reason for its absence.
type IdentityResponse struct {
	Token   string `json:",omitempty"`
	Expires int64  `json:",omitempty"` // Unix time in nanoseconds; 0: with its allocation
	Error   *Error `json:",omitempty"` // nil: there is a token
}

// AllIdentities returns the identities of the task that its job file declares.
func (t *Task) AllIdentities() []*Identity {
	if t.Identity == nil {
		return t.Identities
	}
	return append([]*Identity{t.Identity}, t.Identities...)
}

// UsesAPI reports whether the task gets to see one of its identities. It then has a socket for the
// API of the cluster.
func (t *Task) UsesAPI() bool {
	return slices.ContainsFunc(t.AllIdentities(), func(i *Identity) bool { return i.Env || i.HasFile() })
}

// IsDefault reports whether the identity is that for the API of the cluster.
func (i *Identity) IsDefault() bool { return i.Name == "" || i.Name == DefaultIdentity }

// Label returns the name of the identity.
func (i *Identity) Label() string {
	if i.IsDefault() {
		return DefaultIdentity
	}
	return i.Name
}

// HasFile reports whether the task gets the token as a file.
func (i *Identity) HasFile() bool { return i.File || i.Filepath != "" }

// EnvName returns the name of the variable with the token, as in Nomad.
func (i *Identity) EnvName() string {
	if i.IsDefault() {
		return "NOMAD_TOKEN"
	}
	return "NOMAD_TOKEN_" + i.Name
}

// FilePath returns the path of the file with the token, relative to the task's directory.
func (i *Identity) FilePath() string {
	switch {
	case i.Filepath != "":
		return path.Clean(i.Filepath)
	case i.IsDefault():
		return "secrets/nomad_token"
	}
	return "secrets/nomad_" + i.Name + ".jwt"
}

func (t *Task) validateIdentities(c *complaints, at string) {
	all := t.AllIdentities()
	if len(all) > maxTaskIdentities {
		c.add("%s: has %d identity blocks; at most %d are allowed", at, len(all), maxTaskIdentities)
	}
	names, files := map[string]bool{}, map[string]bool{}
	for _, i := range all {
		at := fmt.Sprintf("%s: identity %q", at, i.Label())
		if names[i.Label()] {
			c.add("%s: the name occurs twice", at)
		}
		names[i.Label()] = true
		if i.HasFile() && files[i.FilePath()] {
			c.add("%s: filepath %q: another identity has the same file", at, i.FilePath())
		}
		files[i.FilePath()] = files[i.FilePath()] || i.HasFile()
		i.validate(c, at)
	}
}

func (i *Identity) validate(c *complaints, at string) {
	if !i.IsDefault() && !identityName.MatchString(i.Name) {
		c.add("%s: a name must be 1 to 128 letters, digits, \"-\" and \"_\"", at)
	}
	if i.IsDefault() && len(i.Audience) > 0 {
		c.add("%s: aud: the default identity is for the API of the cluster; give the identity a name to set its audience", at)
	}
	if !i.IsDefault() && len(i.Audience) == 0 {
		c.add("%s: aud is missing: name the service that the token is for", at)
	}
	if len(i.Audience) > maxIdentityAudiences {
		c.add("%s: aud: has %d entries; at most %d are allowed", at, len(i.Audience), maxIdentityAudiences)
	}
	for _, audience := range i.Audience {
		if audience == "" || len(audience) > maxIdentityAudience {
			c.add("%s: aud: %.64q must have 1 to %d bytes", at, audience, maxIdentityAudience)
		}
	}
	if i.TTL != 0 && i.TTL < MinIdentityTTL {
		c.add("%s: ttl %s: must be at least %s", at, i.TTL, MinIdentityTTL)
	}
	switch i.ChangeMode {
	case "", IdentityChangeNoop, IdentityChangeRestart:
		if i.ChangeSignal != "" {
			c.add("%s: change_signal %q: needs change_mode = \"signal\"", at, i.ChangeSignal)
		}
	case IdentityChangeSignal:
		if !slices.Contains(signals, i.ChangeSignal) {
			c.add("%s: change_signal %q is not a signal: use a name such as SIGHUP", at, i.ChangeSignal)
		}
	default:
		c.add("%s: change_mode %q: must be noop, signal or restart", at, i.ChangeMode)
	}
	if i.TTL > 0 && i.Env && !i.HasFile() && i.ChangeMode != IdentityChangeRestart {
		c.add("%s: env: a variable of a running task does not change, and the token expires after %s: set file = true, or change_mode = \"restart\"", at, i.TTL)
	}
	if f := i.Filepath; f != "" {
		dir, _, below := strings.Cut(path.Clean(f), "/")
		if !filepath.IsLocal(f) || !below || dir != "secrets" && dir != "local" {
			c.add("%s: filepath %q: must be below secrets/ or local/ of the task's directory", at, f)
		}
	}
	if i.ServiceName != "" {
		c.add("%s: service_name is not supported; remove it", at)
	}
	if len(i.ExtraClaims) > 0 {
		c.add("%s: extra_claims are not supported; remove them", at)
	}
}

// validate reports a policy that names tasks incompletely: each level needs the one before.
func (j *JobACL) validate(c *complaints) {
	switch {
	case j == nil:
	case j.Namespace == "":
		c.add("JobACL: Namespace is missing")
	case j.JobID == "" && (j.Group != "" || j.Task != ""):
		c.add("JobACL: Group and Task need JobID")
	case j.Group == "" && j.Task != "":
		c.add("JobACL: Task needs Group")
	}
}

// Matches reports whether the policy is for a task. Names match exactly; an empty one matches every.
func (j *JobACL) Matches(namespace, job, group, task string) bool {
	return j != nil && j.Namespace == namespace && (j.JobID == "" || j.JobID == job) && (j.Group == "" || j.Group == group) && (j.Task == "" || j.Task == task)
}
