// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// QueryOptions are options of a read. Nil is the same as the zero value.
type QueryOptions struct {
	Namespace string        // "*" lists all; default: the client's
	Index     uint64        // wait until the answer is newer than this index
	Wait      time.Duration // wait no longer than this; default 5 minutes, at most 10
	Prefix    string        // list only ids that begin with this
	Filter    string        // list only objects that match this expression
	PerPage   int           // list at most this many, and return the position of the next page
	NextToken string        // list from here: QueryMeta.NextToken of the page before
	Reverse   bool          // list in reverse order
	Stale     bool          // any server may answer, from its own data
	Params    url.Values    // further parameters of a route
}

// QueryMeta holds the metadata of a read's answer.
type QueryMeta struct {
	Index       uint64 // index of the answer; pass it as QueryOptions.Index to wait for the next
	NextToken   string // position of the next page; "" after the last
	KnownLeader bool
	LastContact time.Duration // time since the answering server's last contact with the leader
}

func (o *QueryOptions) values(c *Client) url.Values {
	v := url.Values{}
	if o != nil {
		for key, values := range o.Params {
			v[key] = values
		}
		set := func(key, value string) {
			if value != "" {
				v.Set(key, value)
			}
		}
		set("namespace", o.Namespace)
		set("prefix", o.Prefix)
		set("filter", o.Filter)
		set("next_token", o.NextToken)
		if o.Index > 0 {
			v.Set("index", strconv.FormatUint(o.Index, 10))
		}
		if o.Wait > 0 {
			v.Set("wait", strconv.FormatInt(o.Wait.Milliseconds(), 10)+"ms")
		}
		if o.PerPage > 0 {
			v.Set("per_page", strconv.Itoa(o.PerPage))
		}
		if o.Reverse {
			v.Set("reverse", "true")
		}
		if o.Stale {
			v.Set("stale", "")
		}
	}
	c.addDefaults(v)
	return v
}

func (c *Client) addDefaults(v url.Values) {
	if c.namespace != "" && !v.Has("namespace") {
		v.Set("namespace", c.namespace)
	}
	if c.region != "" && !v.Has("region") {
		v.Set("region", c.region)
	}
}

func metaOf(h http.Header) *QueryMeta {
	m := &QueryMeta{
		NextToken:   h.Get("X-Nomad-NextToken"),
		KnownLeader: strings.EqualFold(h.Get("X-Nomad-KnownLeader"), "true"),
	}
	m.Index, _ = strconv.ParseUint(h.Get("X-Nomad-Index"), 10, 64)
	if ms, err := strconv.ParseInt(h.Get("X-Nomad-LastContact"), 10, 64); err == nil {
		m.LastContact = time.Duration(ms) * time.Millisecond
	}
	return m
}
