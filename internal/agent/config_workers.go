// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net/url"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// setIssuer sets the issuer of identities from a file.
func (s *Server) setIssuer(path string, f *fileServer) error {
	if f.OIDCIssuer == "" {
		return nil
	}
	u, err := url.Parse(f.OIDCIssuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return api.Errorf(api.CodeInvalid, "%s: server.oidc_issuer is %q: use an address such as https://reeve.example.com, without a query", path, f.OIDCIssuer)
	}
	s.OIDCIssuer = f.OIDCIssuer
	return nil
}

// jobTypes are the values of enabled_schedulers.
var jobTypes = []string{api.JobTypeService, api.JobTypeBatch, api.JobTypeSystem, api.JobTypeSysBatch}

// coreScheduler is Nomad's name of what collects garbage. The leader does that here.
const coreScheduler = "_core"

// setWorkers sets the number and the job types of a server's workers from a file.
func (s *Server) setWorkers(path string, f *fileServer) error {
	if f.Workers != nil {
		switch {
		case *f.Workers < 0:
			return api.Errorf(api.CodeInvalid, "%s: server.num_schedulers is %d: use the number of evaluations to process at the same time, or 0 for none", path, *f.Workers)
		case *f.Workers == 0:
			s.Workers = -1
		default:
			s.Workers = *f.Workers
		}
	}
	if f.JobTypes == nil {
		return nil
	}
	types := slices.DeleteFunc(slices.Clone(f.JobTypes), func(name string) bool { return name == coreScheduler })
	for _, name := range types {
		if !slices.Contains(jobTypes, name) {
			return api.Errorf(api.CodeInvalid, "%s: server.enabled_schedulers: unknown type of job %q; use some of %s", path, name, strings.Join(jobTypes, ", "))
		}
	}
	if len(types) == 0 {
		s.Workers = -1
		return nil
	}
	s.JobTypes = types
	return nil
}
