// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/pki"
)

// Limits of requests.
//
// A class of routes has a limit for each token, so that one pipeline in a loop cannot keep the server from
// its work, and cannot block another one behind the same address. Callers without a token are counted by
// their address, and so are logins and invalid tokens. The agent that receives a request from outside
// counts it: the address of a forwarded one is that of a server.
//
// What only a trusted user of the machine, or another server, sends has no limit: neither gains anything from
// a request that it could not do without one.

// The rates of some callers are multiples of a token's.
const (
	timesManagement = 10 // a management token, and operators at one address: they act for many
	timesAddress    = 20 // the tokens at one address together
)

// limitedCallers is the number of tokens and addresses that a class remembers.
const limitedCallers = 10_000

// limits are the limiters of all classes.
type limits map[limit.Class]*limit.Limiter

// newLimits returns limiters with the given rates, or those of their classes.
func newLimits(rates map[limit.Class]limit.Rate) limits {
	l := limits{}
	for _, class := range limit.Classes() {
		rate, configured := rates[class]
		if !configured {
			rate = class.Default()
		}
		l[class] = limit.New(rate, limitedCallers)
	}
	return l
}

// limit returns an error if the caller sends too many requests of the route's class.
func (c *call) limit() error {
	if c.route.Class == limit.None || c.fromServer() {
		return nil
	}
	err := c.takeOf(callerOf(c.r))
	if err != nil {
		c.Metrics.Limited(c.route.Class)
	}
	return err
}

// takeOf takes a request of its caller.
func (c *call) takeOf(who door.Caller) error {
	class := c.route.Class
	from := func(times uint16) limit.Key { return originOf(c.r, times) }
	switch {
	case who.Kind == door.Local, who.Kind == door.Server:
		return nil
	case who.Kind == door.Operator:
		if class == limit.Login {
			return nil // who has the operator's token needs no login
		}
		return c.take(class, from(timesManagement))
	case class == limit.Login:
	case who.Kind == door.Bearer: // the server that checks the token counts it
		return c.take(class, from(timesAddress))
	case who.Kind == door.User:
		if r := c.rights(); r != nil && r.ACL.IsManagement() {
			return c.take(class, limit.Key{Token: who.ID, Times: timesManagement})
		}
		if err := c.take(class, limit.Key{Token: who.ID}); err != nil {
			return err
		}
		return c.take(class, from(timesAddress))
	}
	return c.take(class, from(1))
}

// limitToken returns an error if the address of a request with an invalid token sends many of them: each
// may cost the check of a signature, or a question to the leader.
func (h *Handler) limitToken(r *http.Request) error {
	if !door.HasToken(r) {
		return nil
	}
	if member, ok := h.memberOf(r); ok && member.Role == pki.RoleServer {
		return nil
	}
	return h.take(limit.Token, originOf(r, 1))
}

// originOf returns the key of where a request comes from: an address, or the task whose socket it arrived on.
func originOf(r *http.Request, times uint16) limit.Key {
	if door.IsTask(r) {
		return limit.Key{Token: r.RemoteAddr, Times: times} // not the form of an accessor id
	}
	return limit.Key{Network: limit.NetworkOf(r.RemoteAddr), Times: times}
}

// take takes a request of a key, and returns an error if it has to wait.
func (h *Handler) take(class limit.Class, key limit.Key) error {
	l := h.limits[class]
	wait := l.Take(key, time.Now())
	if wait == 0 {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	rate, times := l.Rate(), float64(max(key.Times, 1))
	return &tooMany{seconds, api.Errorf(api.CodeRateLimited,
		"%s %s more than %s times a second, with bursts of %d: wait %d s, and try again; if honest callers need more, raise rate %q in the block limits of the servers' configuration",
		keyName(key), deeds[class], strconv.FormatFloat(rate.PerSecond*times, 'g', -1, 64), int(times)*rate.Burst, seconds, class)}
}

// A tooMany is the error of a request that exceeds a limit.
type tooMany struct {
	seconds int // after which the next request is permitted; at least 1
	shown   *api.Error
}

func (e *tooMany) Error() string { return e.shown.Error() }

func (e *tooMany) Unwrap() error { return e.shown }

// sayWhen sets the header that says when a request that exceeded a limit may be sent again.
func sayWhen(h http.Header, err error) {
	if e, ok := errors.AsType[*tooMany](err); ok {
		h.Set("Retry-After", strconv.Itoa(e.seconds))
	}
}

// deeds say what requests of a class do.
var deeds = map[limit.Class]string{
	limit.Login:  "logs in",
	limit.Token:  "sends an invalid token",
	limit.Parse:  "parses or validates jobs",
	limit.Plan:   "plans or explains",
	limit.Search: "searches",
	limit.Exec:   "begins commands in tasks",
	limit.Files:  "reads files or logs of tasks",
}

// keyName names a key in a message.
func keyName(key limit.Key) string {
	switch {
	case strings.HasPrefix(key.Token, "task "):
		return key.Token
	case key.Token != "":
		return "token " + api.ShortID(key.Token)
	case key.Network == netip.Prefix{}:
		return "this caller"
	case key.Network.IsSingleIP():
		return "address " + key.Network.Addr().String()
	}
	return "network " + key.Network.String()
}

// fromServer reports whether another server sent or forwarded the request.
func (c *call) fromServer() bool {
	member, ok := c.memberOf(c.r)
	return ok && member.Role == pki.RoleServer
}

// memberOf returns the member of the cluster at the other end of a request's connection.
func (h *Handler) memberOf(r *http.Request) (pki.Identity, bool) {
	if h.Door == nil || h.Door.Peer == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return pki.Identity{}, false
	}
	return h.Door.Peer(*r.TLS)
}
