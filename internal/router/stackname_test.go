// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A world is a catalog with stacks, each with one instance that responds with the stack's version
// and the field Reeve-Stack that it received.
type world struct {
	*running
	u *api.CatalogUpdate
}

func newWorld(t *testing.T, on engine, config Config) *world {
	return &world{on.start(t, config), &api.CatalogUpdate{Complete: true}}
}

// stack adds a stack such as "dev inventory 1.0.0 ready" with its share. Without an instance, the
// status ends with "!".
func (w *world) stack(text string, share float64, change ...func(*api.StackShare)) string {
	w.t.Helper()
	words := strings.Fields(text)
	version, err := api.ParseStackVersion(words[2])
	if err != nil {
		w.t.Fatal(err)
	}
	status, isEmpty := strings.CutSuffix(words[3], "!")
	s := &api.StackShare{Namespace: words[0], Stack: api.StackName(words[1], version, "aaaaaaaa"), Status: status, Share: share}
	for _, c := range change {
		c(s)
	}
	w.u.Stacks = append(w.u.Stacks, s)
	if !isEmpty {
		w.u.Entries = append(w.u.Entries, &api.CatalogEntry{
			AllocID: words[0] + s.Stack, Namespace: words[0], JobID: s.Stack, StackAddress: serve(w.t, func(rw http.ResponseWriter, r *http.Request) {
				io.WriteString(rw, strings.Join(append([]string{words[2]}, r.Header["Reeve-Stack"]...), " "))
			}),
		})
	}
	return s.Stack
}

// exposed gives a stack's instances an exposed host.
func (w *world) exposed(stack string, e api.StackExposure) {
	for _, entry := range w.u.Entries {
		if entry.JobID == stack {
			entry.Endpoints = append(entry.Endpoints, &api.Endpoint{Route: route(host(e.Host)), Address: entry.StackAddress, Exposure: &e})
		}
	}
}

func (w *world) apply() {
	w.u.Index++
	w.Apply(w.u)
}

func isTarget(s *api.StackShare) { s.Target = true }
func tagged(tags ...string) func(*api.StackShare) {
	return func(s *api.StackShare) { s.Tags = tags }
}

// inventory adds a unit: 1.0.0 is the target, 1.1.0 has no share, 1.2.0 warms up, 2.0.0 has no
// instance.
func (w *world) inventory() {
	w.stack("dev inventory 1.0.0 ready", 1, isTarget)
	w.stack("dev inventory 1.1.0 ready", 0, tagged("canary"))
	w.stack("dev inventory 1.2.0 warming", 0, tagged("next"))
	w.stack("dev inventory 2.0.0 ready!", 1, isTarget)
	w.stack("dev search 1.4.0 ready", 1, isTarget)
	w.stack("dev/sandbox search 1.3.0 ready", 1, isTarget)
}

func TestNamesOfStacksLeadToStacks(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.add("any", says(t, "any host"), route())
		w.inventory()
		w.u.Entries = append(w.u.Entries, &api.CatalogEntry{AllocID: "any", Namespace: "default", JobID: "web", Endpoints: []*api.Endpoint{
			{Route: route(), Address: says(t, "any host")},
			{Route: route(host("1.inventory.dev.stack.reeve")), Address: says(t, "a route that takes the name of a stack")},
			{Route: route(host("*.inventory.dev.stack.reeve")), Address: says(t, "a route that takes the names of a unit")},
		}})
		w.apply()
		for name, want := range map[string]string{
			"1.inventory.dev":                "200 1.0.0",
			"1-0.inventory.dev":              "200 1.0.0",
			"1-1.inventory.dev":              "200 1.1.0",
			"1-1.INVENTORY.Dev":              "200 1.1.0",
			"1-0-0.inventory.dev":            "200 1.0.0",
			"1-2-0.inventory.dev":            "200 1.2.0",
			"canary.inventory.dev":           "200 1.1.0",
			"next.inventory.sandbox.dev":     "200 1.2.0",
			"1.inventory.sandbox.dev":        "200 1.0.0",
			"1.inventory.a.b.sandbox.dev":    "200 1.0.0",
			"1.search.dev":                   "200 1.4.0",
			"1.search.sandbox.dev":           "200 1.3.0",
			"1.search.alice.sandbox.dev":     "200 1.3.0",
			"1-4-0.search.sandbox.dev":       "200 1.4.0",
			"1-4.search.sandbox.dev":         `404 no ready stack serves "1-4.search.sandbox.dev.stack.reeve": unit search of namespace dev/sandbox has 1.3.0 (ready)`,
			"1-2.inventory.dev":              `503 no ready stack serves "1-2.inventory.dev.stack.reeve": unit inventory of namespace dev has 2.0.0 (ready), 1.2.0 (warming, tagged next), 1.1.0 (ready, tagged canary), 1.0.0 (ready)`,
			"1-3.inventory.dev":              `404 no ready stack serves "1-3.inventory.dev.stack.reeve": unit inventory of namespace dev has`,
			"3.inventory.dev":                `404 no ready stack serves "3.inventory.dev.stack.reeve": unit inventory of namespace dev has`,
			"1-0-7.inventory.dev":            `404 no ready stack serves "1-0-7.inventory.dev.stack.reeve"`,
			"blue.inventory.dev":             `404 no ready stack serves "blue.inventory.dev.stack.reeve"`,
			"2.inventory.dev":                "503 no instance of unit inventory in namespace dev that satisfies version 2.0 can take traffic",
			"2-0-0.inventory.dev":            "503 stack inventory--2-0-0--aaaaaaaa (ready) has no instance that can take traffic",
			"1.cart.dev":                     `404 no stack serves "1.cart.dev.stack.reeve": namespace dev and those around it have no stack of unit cart; list units with: reeve unit list`,
			"1.cart.alice.sandbox.dev":       `404 no stack serves "1.cart.alice.sandbox.dev.stack.reeve": namespace dev/sandbox/alice and those around it`,
			"1.inventory.prod":               `404 no stack serves "1.inventory.prod.stack.reeve"`,
			"inventory.dev":                  `404 "inventory.dev.stack.reeve" does not name stacks: write SELECTOR.UNIT.NAMESPACE.stack.reeve`,
			"01.inventory.dev":               `404 "01.inventory.dev.stack.reeve" does not name stacks`,
			"1-2-3-4.inventory.dev":          `404 "1-2-3-4.inventory.dev.stack.reeve" does not name stacks`,
			"1.inventory":                    `404 "1.inventory.stack.reeve" does not name stacks`,
			"1..dev":                         `404 "1..dev.stack.reeve" does not name stacks`,
			strings.Repeat("1.", 60) + "dev": `404 no stack serves`,
		} {
			status, body := w.get(name + ".stack.reeve/path")
			if got := fmt.Sprintf("%d %s", status, strings.TrimPrefix(body, fmt.Sprintf("%d %s: ", status, http.StatusText(status)))); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
		}
		if status, body := w.get("1.inventory.dev.stack.reeve:8080/"); status != 200 || body != "1.0.0" {
			t.Errorf("with a port: %d %s", status, body)
		}
		if status, body := w.get("inventory.dev.stack.example.com/"); status != 200 || body != "any host" {
			t.Errorf("a name outside of the zone: %d %s", status, body)
		}
	})
}

// moveTo sets the share of the newer stack of a shift from 1.0.0 to 1.1.0.
func (w *world) moveTo(share float64) {
	for _, s := range w.u.Stacks {
		switch s.Stack {
		case "inventory--1-0-0--aaaaaaaa":
			s.Share, s.ShiftEnd = 1-share, api.ShiftEndFrom
		case "inventory--1-1-0--aaaaaaaa":
			s.Share, s.ShiftEnd = share, api.ShiftEndTo
		}
	}
}

func TestANameIsDividedByShareDuringAShift(t *testing.T) {
	w := newWorld(t, fast, Config{})
	w.inventory()
	w.moveTo(0.25)
	w.apply()
	part := func(name string) float64 {
		t.Helper()
		q := &asked{host: name + ".stack.reeve", path: "/", peer: netip.MustParseAddr("127.0.0.1")}
		next := 0
		const requests = 20_000
		for range requests {
			c := w.choose(w.table.Load(), q)
			if c.refused != nil {
				t.Fatal(c.refused)
			}
			to, ok := c.pool.pick("", nil, 0)
			if !ok {
				t.Fatal("no target")
			}
			if strings.Contains(to.job, "1-1-0") {
				next++
			}
		}
		return float64(next) / requests
	}
	for name, want := range map[string]float64{"1.inventory.dev": 0.25, "1-0.inventory.sandbox.dev": 0.25, "1-1.inventory.dev": 1, "1-0-0.inventory.dev": 0} {
		if got := part(name); math.Abs(got-want) > 0.02 {
			t.Errorf("%s: the newer stack got %v of the requests, want %v", name, got, want)
		}
	}
	w.index = w.u.Index
	w.remove("devinventory--1-1-0--aaaaaaaa")
	if got := part("1.inventory.dev"); got != 0 {
		t.Errorf("a stack without instances got %v of the requests", got)
	}
}

// A request whose instance left between the choice and the connection finds the new one.
func TestARetryOfANameFindsNewInstances(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.stack("dev inventory 1.0.0 ready", 1, isTarget)
		w.u.Entries[0].StackAddress = unused(t)
		w.apply()
		p := w.choose(w.table.Load(), &asked{host: "1.inventory.dev.stack.reeve", path: "/", peer: netip.MustParseAddr("::1")}).pool
		w.Apply(&api.CatalogUpdate{Index: 2, Entries: []*api.CatalogEntry{
			{AllocID: "new", Namespace: "dev", JobID: w.u.Stacks[0].Stack, StackAddress: says(t, "new")},
		}})
		if newest := w.current(p); len(newest.targets) != 2 {
			t.Errorf("the newest version of the pool has %d targets, want 2", len(newest.targets))
		}
		for range 10 {
			if status, body := w.get("1.inventory.dev.stack.reeve/"); status != 200 || body != "new" {
				t.Fatalf("%d %s", status, body)
			}
		}
		w.Apply(&api.CatalogUpdate{Index: 3, Complete: true})
		if status, _ := w.get("1.inventory.dev.stack.reeve/"); status != 404 {
			t.Errorf("status %d after the end of the unit, want 404", status)
		}
		if w.current(p) != p {
			t.Error("the pool of a unit that is gone has a newer version")
		}
	})
}

func TestNamesAreForClientsOfTheConfiguredNetworks(t *testing.T) {
	proxy := netip.MustParsePrefix("10.1.0.0/16")
	for _, c := range []struct {
		peer, forwarded string
		clients         []netip.Prefix
		want            bool
	}{
		{"127.0.0.1", "", nil, true},
		{"::1", "", nil, true},
		{"10.9.0.1", "", nil, true},
		{"fd00::7", "", nil, true},
		{"203.0.113.9", "", nil, false},
		{"2001:db8::1", "", nil, false},
		{"10.9.0.1", "203.0.113.9", nil, true}, // the field of an untrusted peer means nothing
		{"203.0.113.9", "10.0.0.1", nil, false},
		{"10.1.0.1", "", nil, true},
		{"10.1.0.1", "203.0.113.9", nil, false},
		{"10.1.0.1", "10.9.0.1", nil, true},
		{"10.1.0.1", "10.9.0.1, 203.0.113.9", nil, false}, // the client invented the first
		{"10.1.0.1", "203.0.113.9, 10.9.0.1", nil, true},
		{"10.1.0.1", "203.0.113.9, 10.1.0.2", nil, false},
		{"10.1.0.1", "10.1.0.2,10.1.0.3", nil, true},
		{"10.1.0.1", "unknown", nil, false},
		{"10.1.0.1", ",", nil, false},
		{"127.0.0.1", "", []netip.Prefix{}, false},
		{"203.0.113.9", "", []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, true},
		{"127.0.0.1", "", []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, false},
	} {
		r := &Router{config: Config{Trusted: []netip.Prefix{proxy}, StackClients: c.clients}.withDefaults()}
		q := &asked{peer: netip.MustParseAddr(c.peer), trusted: r.trusts(netip.MustParseAddr(c.peer))}
		if c.forwarded != "" {
			q.origin = headerOrigin{"X-Forwarded-For": {c.forwarded}}
		}
		if got := r.mayName(q); got != c.want {
			t.Errorf("%s for %q among %v: %v, want %v", c.peer, c.forwarded, c.clients, got, c.want)
		}
	}
}

func TestAClientOutsideOfTheNetworksIsRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		loopback := netip.MustParsePrefix("127.0.0.0/8")
		w := newWorld(t, on, Config{Trusted: []netip.Prefix{loopback}})
		w.inventory()
		w.apply()
		from := func(address string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Add("X-Forwarded-For", address) }
		}
		if status, body := w.get("1.inventory.dev.stack.reeve/", from("198.51.100.1"), from("203.0.113.9")); status != 403 || !strings.Contains(body, "stack_clients") {
			t.Errorf("%d %s", status, body)
		}
		if status, body := w.get("1.inventory.dev.stack.reeve/", from("203.0.113.9"), from("10.0.0.9")); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	})
}

func TestTheStatusShowsUsedNames(t *testing.T) {
	w := newWorld(t, fast, Config{})
	w.inventory()
	w.apply()
	w.get("1.inventory.sandbox.dev.stack.reeve/")
	w.get("1-1-0.inventory.dev.stack.reeve/")
	// The router counts a request after the client has received the response.
	routes := func() (all []string) {
		for _, r := range w.Status().Routes {
			all = append(all, fmt.Sprintf("%s %s %s %d", r.Protocol, r.Host, r.Path, r.Requests))
		}
		return all
	}
	const want = "[http 1-1-0.inventory.dev.stack.reeve / 1 http inventory.dev.stack.reeve / 1]"
	eventually(t, "routes are "+want, func() bool { return fmt.Sprint(routes()) == want })
	if n := w.Status().NoRoute; n != 0 {
		t.Errorf("%d requests without a route", n)
	}
	w.get("1.cart.dev.stack.reeve/")
	if n := w.Status().NoRoute; n != 1 {
		t.Errorf("%d requests without a route, want the one for a unit that does not exist", n)
	}
}

// A server is another program than this one: what it sends must not stop the router.
func TestMalformedStacksAreIgnored(t *testing.T) {
	w := newWorld(t, fast, Config{})
	w.u.Stacks = []*api.StackShare{
		nil, {}, {Namespace: "dev", Stack: "no stack", Share: math.Inf(1)},
		{Namespace: "dev", Stack: "inventory--1-0-0--aaaaaaaa", Status: api.StackReady, Share: -1, ShiftEnd: api.ShiftEndTo, Target: true},
		{Namespace: "dev", Stack: "inventory--1-1-0--aaaaaaaa", Status: api.StackReady, Share: math.NaN(), ShiftEnd: "middle", Target: true},
	}
	w.stack("dev search 1.4.0 ready", 1, isTarget)
	w.apply()
	w.get("1.inventory.dev.stack.reeve/")
	if status, _ := w.get("1.search.dev.stack.reeve/"); status != 200 {
		t.Errorf("status %d of a unit that is well", status)
	}
}

// units returns an applier with 2,000 units of five stacks.
func units(tb testing.TB) (*applier, *Router) {
	tb.Helper()
	a := newApplier()
	u := &api.CatalogUpdate{Index: 1, Complete: true}
	for i := range 2000 {
		for minor := range 5 {
			name := fmt.Sprintf("unit-%d--1-%d-0--aaaaaaaa", i, minor)
			u.Stacks = append(u.Stacks, &api.StackShare{Namespace: "dev", Stack: name, Status: api.StackReady, Target: minor == 4})
			u.Entries = append(u.Entries, &api.CatalogEntry{AllocID: name, Namespace: "dev", JobID: name, StackAddress: fmt.Sprintf("10.%d.%d.%d:80", minor, i>>8, i&255)})
		}
	}
	u.Entries = append(u.Entries, &api.CatalogEntry{AllocID: "plain", Namespace: "dev", JobID: "plain", Endpoints: []*api.Endpoint{{Route: route(host("plain.example.com")), Address: "10.9.9.9:80"}}})
	a.apply(u, time.Now())
	r := &Router{config: Config{}.withDefaults(), stackNames: ".stack.reeve"}
	r.table.Store(a.table)
	return a, r
}

// BenchmarkChoose measures the choice of a pool: for a plain host, and for names among 2,000 units.
func BenchmarkChoose(b *testing.B) {
	_, r := units(b)
	b.Run("the table alone", func(b *testing.B) {
		t := r.table.Load()
		for b.Loop() {
			if t.find("plain.example.com", "/some/path", false) == nil {
				b.Fatal("no pool")
			}
		}
	})
	for _, name := range []string{"plain.example.com", "1.unit-500.dev.stack.reeve", "1-2.unit-500.sandbox.dev.stack.reeve", "1-2-0.unit-500.dev.stack.reeve"} {
		b.Run(name, func(b *testing.B) {
			q := &asked{host: name, path: "/some/path", peer: netip.MustParseAddr("127.0.0.1")}
			t := r.table.Load()
			b.ReportAllocs()
			for b.Loop() {
				if r.choose(t, q).pool == nil {
					b.Fatal("no pool")
				}
			}
		})
	}
}

// BenchmarkShiftStep measures the update of a table when a share changes, among 2,000 units.
func BenchmarkShiftStep(b *testing.B) {
	a, _ := units(b)
	share := 0.0
	b.ReportAllocs()
	for b.Loop() {
		share = math.Mod(share+0.01, 1)
		a.apply(&api.CatalogUpdate{Index: 2, Stacks: []*api.StackShare{
			{Namespace: "dev", Stack: "unit-500--1-3-0--aaaaaaaa", Status: api.StackReady, Target: true, Share: 1 - share, ShiftEnd: api.ShiftEndFrom},
			{Namespace: "dev", Stack: "unit-500--1-4-0--aaaaaaaa", Status: api.StackReady, Share: share, ShiftEnd: api.ShiftEndTo},
		}}, time.Now())
	}
}

func TestChoosingByNameAllocatesNothing(t *testing.T) {
	_, r := units(t)
	for _, name := range []string{"plain.example.com", "1.unit-500.dev.stack.reeve", "1-2.unit-500.sandbox.dev.stack.reeve"} {
		q := &asked{host: name, path: "/", peer: netip.MustParseAddr("127.0.0.1")}
		if n := testing.AllocsPerRun(100, func() { r.choose(r.table.Load(), q) }); n != 0 {
			t.Errorf("the choice for %s allocates %v times", name, n)
		}
	}
}

// A gRPC call to a name reaches the stack over HTTP/2, and a refusal has a gRPC status.
func TestNamesServeGRPC(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.stack("dev inventory 1.0.0 ready", 1, isTarget)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			rw.Header().Set("Trailer", "Grpc-Message")
			rw.WriteHeader(http.StatusOK)
			rw.Header().Set("Grpc-Message", r.Proto+" "+r.Header.Get(stackField))
		}))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		w.u.Entries[0].StackAddress = s.Listener.Addr().String()
		w.apply()
		client := h2c(t)
		call := func(name string) (message string, header http.Header) {
			t.Helper()
			q, err := http.NewRequest(http.MethodPost, "http://"+w.Addr()+"/echo.Service/Talk", strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			q.Host = name
			q.Header.Set("Content-Type", "application/grpc")
			q.Header.Set(stackField, "inventory--1-0-0--aaaaaaaa")
			resp, err := client.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Fatal(err)
			}
			return resp.Trailer.Get("Grpc-Message"), resp.Header
		}
		if got, _ := call("1.inventory.dev.stack.reeve"); got != "HTTP/2.0 inventory--1-0-0--aaaaaaaa" {
			t.Errorf("the stack received %q, want HTTP/2 with the field", got)
		}
		if _, header := call("2.inventory.dev.stack.reeve"); header.Get("Grpc-Status") != "12" {
			t.Errorf("a version that does not exist: %v", header)
		}
		if r := w.do(http.MethodPost, "1.inventory.dev.stack.reeve/", nil, func(r *http.Request) { r.Header.Set("Content-Type", "application/grpc") }); r.status != http.StatusUpgradeRequired {
			t.Errorf("gRPC over HTTP/1.1: %d", r.status)
		}
	})
}
