// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/server"
)

// Rights of callers with tokens.
//
// A route needs a capability, and its pattern tells for what: a namespace, which the query, the
// object or the body names, or the whole cluster. What no pattern covers needs a management
// token: a new route is closed until somebody decides. Each server checks the requests that it
// receives; the leader checks a forwarded one again, because it is the first to know of a
// deleted token.

// rights returns the rights of a caller with a token, or of one without any; nil if its kind alone
// decides.
func (c *call) rights() *server.Rights {
	switch who := callerOf(c.r); {
	case c.Server == nil:
		return nil
	case who.Kind == door.User:
		if r := c.Server.RightsOfAccessor(who.ID); r != nil {
			return r
		}
		return noRights
	case who.Kind == door.Anonymous:
		if r := c.Server.AnonymousRights(); r != nil {
			return r
		}
		return noRights
	}
	return nil
}

// noRights are those of a token that was deleted or has expired.
var noRights = &server.Rights{ACL: acl.New()}

// authorizeRights returns an error unless the rights of the caller's token permit the request.
func (c *call) authorizeRights() error {
	r := c.rights()
	switch {
	case r == nil, r.ACL.IsManagement():
		return nil
	case r == noRights:
		return c.forbidden("its token was deleted or has expired: ask for another one")
	case c.route.Capability == OwnToken, c.route.Capability == Anonymous:
		return nil
	}
	capability := c.route.needs
	switch c.route.about {
	case ofManagement, "":
		if capability != acl.None {
			return c.forbidden("the route shows or changes more than one namespace, so only management tokens may use it")
		}
		return c.forbidden("only management tokens have it")
	case ofCluster:
		return c.permit(capability, "")
	case ofAnyNamespace:
		if id := c.r.PathValue("id"); id != "" && !r.ACL.AllowsAny(id) {
			return c.forbidden("no rule of its policies is for namespace %.128q", id)
		}
		return nil
	case ofQuota:
		return nil
	case ofEvents:
		return c.permitEvents(r)
	case everyNamespace:
		return c.permitEvery()
	case ofDialect:
		return c.permitDialect()
	case ofDelegation:
		if !r.ACL.AllowsAnywhere(capability) {
			return c.forbidden("only management tokens may use it, and tokens with the capability in a namespace")
		}
		return nil
	case ofNamespace:
		if c.isOwnCatalog(r) {
			return nil
		}
		return c.permitNamespaces(capability)
	case ofVariable:
		return c.permitVariable(capability)
	case ofBodyJob:
		return c.permitSomewhere(capability)
	default:
		return c.permitObject(capability, c.route.about)
	}
}

// isOwnCatalog reports whether a task reads the services of its namespace: every task may.
func (c *call) isOwnCatalog(r *server.Rights) bool {
	if r.Workload == nil || c.r.Method != http.MethodGet || c.route.Pattern != "/v1/services" && c.route.Pattern != "/v1/service/{name}" {
		return false
	}
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	return cmp.Or(c.query.Get("namespace"), api.DefaultNamespace) == r.Workload.Namespace
}

// permit returns an error unless the caller has a capability, for a namespace or for the cluster.
func (c *call) permit(capability acl.Capability, namespace string) error {
	r := c.rights()
	if r == nil {
		return nil
	}
	return c.permitQuestion(r, acl.Question{Capability: capability, Name: namespace})
}

func (c *call) permitQuestion(r *server.Rights, q acl.Question) error {
	if r.ACL.Allows(q) {
		return nil
	}
	return c.forbidden("%s", r.ACL.Explain(q).Reason)
}

// permitVariable checks the path of a variable in the namespace of the query. A list leaves out what
// the caller may not see.
func (c *call) permitVariable(capability acl.Capability) error {
	if c.route.Filters {
		return c.permitSomewhere(capability)
	}
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	namespace := cmp.Or(c.query.Get("namespace"), api.DefaultNamespace)
	return c.permitQuestion(c.rights(), acl.Question{Capability: capability, Name: namespace, Path: c.id()})
}

// permitNamespaces checks the namespace of the query. A read of all namespaces shows those that the
// caller may read, if the route leaves the others out; see route.Filters.
func (c *call) permitNamespaces(capability acl.Capability) error {
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	namespace := c.query.Get("namespace")
	switch {
	case namespace == "":
		return c.permit(capability, api.DefaultNamespace)
	case namespace != allNamespaces:
		return c.permit(capability, namespace)
	case c.route.Filters:
		if !c.rights().ACL.AllowsAnywhere(capability) {
			return c.forbidden("%s", c.rights().ACL.Explain(acl.Question{Capability: capability, Name: allNamespaces}).Reason)
		}
		return nil
	}
	return c.permitEvery()
}

// permitEvery returns an error unless the caller has the route's capability in all namespaces.
func (c *call) permitEvery() error {
	if c.rights() == nil {
		return nil
	}
	for n := range c.Server.Store().Snapshot().NamespacesPrefix("") {
		if err := c.permit(c.route.needs, n.Name); err != nil {
			return err
		}
	}
	return nil
}

// permitObject checks the namespace of the object that the path names, by its id or the beginning of
// it. The handler then sees the whole id: it must not find another object, which exists since then. An
// unknown object is not found, for callers who have the capability somewhere. An object of another
// namespace has no beginnings: one character of an id would show which namespaces exist.
func (c *call) permitObject(capability acl.Capability, is subject) error {
	key := "id"
	if c.r.PathValue(key) == "" {
		key = "alloc"
	}
	id := c.r.PathValue(key)
	may := func(namespace string) bool { return c.may(capability, namespace) }
	found := objectsOf(c.Server.Store().Snapshot(), is, id, may)
	if len(found) == 0 && c.current && c.route.Local && c.Leader != nil && c.refresh(c.r.Context()) == nil {
		found = objectsOf(c.Server.Store().Snapshot(), is, id, may)
	}
	switch {
	case len(found) == 1 && found[0].id == id:
		return c.permit(capability, found[0].namespace)
	case len(found) == 1:
		c.completeID(key, found[0].id)
		return nil
	case len(found) == 0 || !c.current:
		if err := c.permitSomewhere(capability); err != nil || !c.current {
			return err
		}
		return api.Errorf(api.CodeNotFound, "%s %q not found", is, id)
	}
	return ambiguous(string(is), id, found)
}

// permitSomewhere returns an error unless a rule of the caller's grants the capability.
func (c *call) permitSomewhere(capability acl.Capability) error {
	if c.rights().ACL.AllowsAnywhere(capability) {
		return nil
	}
	return c.forbidden("none of its policies grants it")
}

// permitJob checks the namespace of the job in the body.
func (c *call) permitJob(namespace string) error {
	return c.permit(c.route.needs, namespace)
}

// mayRead reports whether the caller may see objects of a namespace in a read of all namespaces.
func (c *call) mayRead(namespace string) bool { return c.may(c.route.needs, namespace) }

// may reports whether the caller has a capability in a namespace.
func (c *call) may(capability acl.Capability, namespace string) bool {
	r := c.rights()
	return r == nil || r.ACL.Allows(acl.Question{Capability: capability, Name: namespace})
}

// maySee reports whether the caller has any capability in a namespace.
func (c *call) maySee(namespace string) bool {
	r := c.rights()
	return r == nil || r.ACL.AllowsAny(namespace)
}

// maySearch reports whether the caller may search a kind of objects that belong to no namespace.
func (c *call) maySearch(context string) bool {
	r := c.rights()
	switch {
	case r == nil, r.ACL.IsManagement():
		return true
	case context == api.SearchNodes, context == api.SearchNodePools:
		return r.ACL.Allows(acl.Question{Capability: acl.ReadNode})
	case slices.Contains([]string{api.SearchJobs, api.SearchAllocations, api.SearchEvaluations, api.SearchDeployments, api.SearchNamespaces}, context):
		return true
	}
	return false
}
