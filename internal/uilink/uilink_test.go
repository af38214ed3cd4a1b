// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uilink

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

func TestPagesOfNomadLeadToOurs(t *testing.T) {
	for from, want := range map[string]string{
		"/ui/jobs/web@default":                                      "/ui/job/web",
		"/ui/jobs/web":                                              "/ui/job/web",
		"/ui/jobs/web/":                                             "/ui/job/web",
		"/ui/jobs/web?namespace=dev":                                "/ui/job/web?namespace=dev",
		"/ui/jobs/web@dev":                                          "/ui/job/web?namespace=dev",
		"/ui/jobs/web@dev%2Fsandbox":                                "/ui/job/web?namespace=dev%2Fsandbox",
		"/ui/jobs/web@dev?namespace=prod":                           "/ui/job/web?namespace=dev",
		"/ui/jobs/a@b@dev":                                          "/ui/job/a@b?namespace=dev",
		"/ui/jobs/backup%2Fperiodic-17@default":                     "/ui/job/backup%2Fperiodic-17",
		"/ui/jobs/web@default/definition":                           "/ui/job/web/definition",
		"/ui/jobs/web@default/versions":                             "/ui/job/web/versions",
		"/ui/jobs/web@dev/allocations":                              "/ui/job/web/instances?namespace=dev",
		"/ui/jobs/web@default/deployments":                          "/ui/job/web/history",
		"/ui/jobs/web@default/evaluations":                          "/ui/job/web/history",
		"/ui/jobs/web@default/services":                             "/ui/job/web",
		"/ui/jobs/web@default/frontend":                             "/ui/job/web/instances",
		"/ui/jobs/run":                                              "", // our page, too
		"/ui/jobs/run@default":                                      "/ui/job/run",
		"/ui/evaluations?currentEval=9f12":                          "/ui/evaluations?evaluation=9f12",
		"/ui/evaluations?currentEval=9f12%26x":                      "/ui/evaluations?evaluation=9f12%26x",
		"/ui/allocations/d00d":                                      "/ui/allocation/d00d",
		"/ui/allocations/d00d/server":                               "/ui/allocation/d00d",
		"/ui/allocations/d00d/server/logs":                          "/ui/allocation/d00d/logs",
		"/ui/allocations/d00d/server/fs/local":                      "/ui/allocation/d00d/files",
		"/ui/allocations/d00d/fs":                                   "/ui/allocation/d00d/files",
		"/ui/allocations/d00d/fs/logs":                              "/ui/allocation/d00d/files",
		"/ui/clients":                                               "/ui/nodes",
		"/ui/clients/n1":                                            "/ui/node/n1",
		"/ui/clients/n1/monitor":                                    "/ui/node/n1",
		"/ui/servers":                                               "/ui/cluster",
		"/ui/servers/s1.global":                                     "/ui/cluster",
		"/ui/csi/volumes":                                           "/ui/volumes",
		"/ui/storage/volumes/csi/x@default":                         "/ui/volumes",
		"/ui/exec/web/web/server?allocation=d00d&namespace=default": "/ui/allocation/d00d/exec",
		"/ui/exec/web?namespace=dev":                                "/ui/job/web/instances?namespace=dev",
		"/ui/variables/var/nomad/jobs/web@dev":                      "/ui/variables?path=nomad%2Fjobs%2Fweb&namespace=dev",
		"/ui/variables/path/nomad":                                  "/ui/variables?path=nomad",
		"/ui/variables/path":                                        "/ui/variables",
		"/ui/settings/tokens":                                       "/ui/login",
		"/ui/administration/policies":                               "/ui/access",
		"/ui/jobs/":                                                 "/ui/jobs",
		"/ui/topology/":                                             "/ui/topology",
		"/ui/optimize":                                              "/ui/jobs",

		// Our own pages, and what is no page.
		"/ui/": "", "/ui": "", "/ui/jobs": "", "/ui/job/web": "", "/ui/topology": "", "/ui/evaluations": "", "/ui/settings": "",
		"/ui/node/n1": "", "/ui/nothing": "", "/v1/jobs": "", "/ui/variables": "", "/ui/assets/app.js": "",
	} {
		u, err := url.Parse("http://127.0.0.1:4646" + from)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := FromNomad(u); got != want || ok != (want != "") {
			t.Errorf("%s leads to %q (%t), want %q", from, got, ok, want)
		}
	}
}

// hostile are names that would leave the UI, or change the meaning of an address.
var hostile = []string{
	"", ".", "..", "/", "//evil.example", "../../v1/jobs", "a/../../b", "\\\\evil.example", "a?namespace=x", "a#code=x", "a\r\nSet-Cookie: x=y",
	"%2e%2e", "https://evil.example/", "a@b@c", "@", "a%", "\x00", "javascript:alert(1)", "ü/ö", " ",
}

func TestAddressesStayInTheUI(t *testing.T) {
	var all []string
	for _, name := range hostile {
		all = append(all, Job(name, name), Job(name, ""), Node(name), Allocation(name, "logs"))
		for _, kind := range []string{"jobs/", "allocations/", "clients/", "exec/", "variables/var/", "servers/", "settings/", "evaluations?currentEval=", "jobs/web@default/", ""} {
			for _, path := range []string{name, url.PathEscape(name), url.QueryEscape(name)} {
				u, err := url.Parse("http://x/ui/" + kind + path)
				if err != nil {
					continue
				}
				if to, ok := FromNomad(u); ok {
					all = append(all, to)
				}
			}
		}
	}
	for _, address := range all {
		u, err := url.Parse(address)
		switch {
		case err != nil:
			t.Errorf("%q is no address: %v", address, err)
		case !strings.HasPrefix(address, Root), u.Host != "", u.Scheme != "", u.Fragment != "":
			t.Errorf("%q leaves the UI", address)
		case !strings.HasPrefix(path.Clean(u.EscapedPath())+"/", Root), path.Clean(u.EscapedPath()) != strings.TrimSuffix(u.EscapedPath(), "/"):
			t.Errorf("a browser shows %q under another path: %s", address, path.Clean(u.EscapedPath()))
		case strings.ContainsAny(address, "\r\n\\ \x00"):
			t.Errorf("%q contains bytes that end a header", address)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d addresses were tried", len(all))
	}
}

func TestNamesSurviveAnAddress(t *testing.T) {
	for _, name := range []string{"web", "backup/periodic-17", "a@b", "ü", "a b", "50%", "a?b", "a#b"} {
		u, err := url.Parse(Job(name, "dev/sandbox", "logs"))
		if err != nil {
			t.Fatal(err)
		}
		if u.Path != "/ui/job/"+name+"/logs" || u.Query().Get("namespace") != "dev/sandbox" {
			t.Errorf("%q became %s", name, u)
		}
	}
	for _, name := range Lists() {
		if address, ok := List(name); !ok || address != "/ui/"+name {
			t.Errorf("%s is at %s (%t)", name, address, ok)
		}
	}
	if address, ok := List("weather"); ok {
		t.Errorf("weather is at %s", address)
	}
}

func TestOurPagesStayWhereTheyAre(t *testing.T) {
	pages := []string{
		"/ui/", "/ui/jobs/run", "/ui/job/web/logs?namespace=dev", "/ui/allocation/5f3e/exec", "/ui/node/5f3e/images", "/ui/services/routes", "/ui/services/router",
		"/ui/access/tokens", "/ui/access/policies?policy=web", "/ui/evaluations?evaluation=5f3e", "/ui/rollouts?deployment=5f3e", "/ui/stacks?view=list",
		"/ui/variables?path=nomad/jobs/web", "/ui/oidc/callback?code=x&state=y",
	}
	for _, list := range Lists() {
		pages = append(pages, "/ui/"+list)
	}
	for _, address := range pages {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if to, ok := FromNomad(u); ok {
			t.Errorf("%s leads to %s", address, to)
		}
	}
}
