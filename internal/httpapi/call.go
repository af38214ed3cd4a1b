// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/filter"
)

// Bounds of a blocking query's wait.
const (
	defaultWait = 5 * time.Minute
	maxWait     = 10 * time.Minute
)

// allNamespaces stands for all namespaces in a list request.
const allNamespaces = "*"

// call is a request and its answer.
type call struct {
	*Handler
	w     http.ResponseWriter
	r     *http.Request
	route *route

	current   bool // reports whether the state may be trusted to contain the object of the request
	query     url.Values
	namespace string // "default" when none was named
	index     uint64 // of a blocking query; 0: answer at once
	wait      time.Duration
	prefix    string
	filter    *filter.Filter // nil: everything
	perPage   int            // 0: everything
	token     string
	reverse   bool

	nextToken string   // where the next page begins
	seen      int      // objects of the answer when a blocking query first looked; -1: not yet
	warnings  []string // of reading the body
	encoded   []byte   // a body of nodeproto.Media

	hostNamespace string // of a command in a task without isolation: the caller's right there is watched
}

// parseQuery reads the parameters that all routes share.
func (c *call) parseQuery() error {
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	q := c.query
	if region := q.Get("region"); region != "" && region != c.Region {
		return api.Errorf(api.CodeInvalid, "region: this server is of region %q, not %q", c.Region, region)
	}
	c.namespace = q.Get("namespace")
	if c.namespace == "" {
		c.namespace = api.DefaultNamespace
	}
	if c.namespace == allNamespaces && !c.route.List && c.route.Stream == "" && c.route.Method != http.MethodGet {
		return api.Errorf(api.CodeInvalid, "namespace: a write names one namespace, not %q", allNamespaces)
	}
	if err := c.parseBlocking(q); err != nil {
		return err
	}
	return c.parseList(q)
}

func (c *call) parseBlocking(q url.Values) (err error) {
	if s := q.Get("index"); s != "" {
		if c.index, err = strconv.ParseUint(s, 10, 64); err != nil {
			return api.Errorf(api.CodeInvalid, "index: %q is not a whole number", s)
		}
	}
	c.wait = defaultWait
	if s := q.Get("wait"); s != "" {
		if c.wait, err = parseWait(s); err != nil {
			return err
		}
	}
	c.wait = min(c.wait, maxWait)
	if c.wait > 0 {
		// Jitter: clients that began together do not return together.
		c.wait += rand.N(c.wait/16 + 1)
	}
	return nil
}

// told returns the position up to which the client of a stream has read; without a
// timeline if the request contains none.
func (c *call) told() api.Position {
	return api.Position{Timeline: c.query.Get("timeline"), Index: c.index}
}

func parseWait(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		seconds, numberErr := strconv.ParseUint(s, 10, 32)
		if numberErr != nil {
			return 0, api.Errorf(api.CodeInvalid, "wait: %q is not a duration such as 30s", s)
		}
		d = time.Duration(seconds) * time.Second
	}
	if d < 0 {
		return 0, api.Errorf(api.CodeInvalid, "wait: %q is negative", s)
	}
	if d == 0 {
		d = defaultWait
	}
	return d, nil
}

func (c *call) parseList(q url.Values) (err error) {
	c.prefix = q.Get("prefix")
	c.token = q.Get("next_token")
	if c.reverse, err = c.flag("reverse"); err != nil {
		return err
	}
	if s := q.Get("per_page"); s != "" {
		if c.perPage, err = strconv.Atoi(s); err != nil || c.perPage < 0 {
			return api.Errorf(api.CodeInvalid, "per_page: %q is not a whole number from 0", s)
		}
	}
	if s := q.Get("filter"); s != "" {
		if !c.route.List {
			return nil // clients send their defaults everywhere
		}
		if c.filter, err = filter.Parse(s); err != nil {
			return err
		}
	}
	return nil
}

// flag reads a boolean parameter; a name without a value is true.
func (c *call) flag(name string) (bool, error) {
	values, ok := c.query[name]
	if !ok || len(values) == 0 {
		return false, nil
	}
	if values[0] == "" {
		return true, nil
	}
	v, err := strconv.ParseBool(values[0])
	if err != nil {
		return false, api.Errorf(api.CodeInvalid, "%s: %q is neither true nor false", name, values[0])
	}
	return v, nil
}

// number reads an integer parameter; 0 if it is absent.
func (c *call) number(name string) (uint64, error) {
	s := c.query.Get(name)
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, api.Errorf(api.CodeInvalid, "%s: %q is not a whole number", name, s)
	}
	return v, nil
}

// cas returns the modify index that the stored object must have, nil if the caller does
// not request a check.
func (c *call) cas() (*uint64, error) {
	if !c.query.Has("cas") {
		return nil, nil
	}
	index, err := c.number("cas")
	return &index, err
}

// id returns the {id} of the path.
func (c *call) id() string { return c.r.PathValue("id") }

// inNamespace reports whether the request includes the namespace of an object, and the caller may
// see it.
func (c *call) inNamespace(namespace string) bool {
	return c.namespace == namespace || c.namespace == allNamespaces && c.mayRead(namespace)
}

// warned joins the warnings about the request's body with those of a verb.
func (c *call) warned(warnings string) string {
	all := c.warnings
	if warnings != "" {
		all = append(all, warnings)
	}
	return strings.Join(all, "\n")
}

// jobName names a job in a message.
func (c *call) jobName(id string) string {
	if c.namespace == api.DefaultNamespace {
		return fmt.Sprintf("%q", id)
	}
	return fmt.Sprintf("%q in namespace %q", id, c.namespace)
}
