// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uilink

import (
	"net/url"
	"slices"
	"strings"
)

// tabsOfJob maps the tabs of a job in Nomad's UI to ours. Another segment after a job is one of its groups.
var tabsOfJob = map[string]string{
	"definition": "definition", "versions": "versions", "allocations": "instances", "deployments": "history",
	"evaluations": "history", "clients": "instances", "dispatches": "", "services": "", "variables": "",
}

// listsOfNomad maps the lists of Nomad's UI that have another name here.
var listsOfNomad = map[string]string{
	"clients": "nodes", "servers": "cluster", "storage": "volumes", "csi": "volumes", "optimize": "jobs",
	"administration": "access", "access-control": "access", "exec": "instances", "search": "jobs",
	"allocations": "instances",
}

// FromNomad returns the page for an address of Nomad's UI; false if the address is not one of those, or
// is the same in both. The result always begins with Root.
func FromNomad(u *url.URL) (string, bool) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), Root)
	if !ok {
		return "", false
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil {
			return "", false
		}
		parts[i] = name
	}
	namespace := u.Query().Get("namespace")
	switch {
	case parts[0] == "jobs" && len(parts) == 2 && parts[1] == "run":
		return "", false // to run a job: the same in both
	case parts[0] == "jobs" && len(parts) > 1:
		return fromJob(parts[1:], namespace), true
	case parts[0] == "allocations" && len(parts) > 1:
		return fromAllocation(parts[1:]), true
	case parts[0] == "clients" && len(parts) > 1:
		return Node(parts[1]), true
	case parts[0] == "exec" && len(parts) > 1:
		return fromExec(parts[1], u.Query()), true
	case parts[0] == "variables" && len(parts) > 1:
		return fromVariable(parts[1:]), true
	case parts[0] == "settings" && len(parts) > 1:
		return page("login"), true // its tokens
	case parts[0] == "evaluations" && u.Query().Get("currentEval") != "":
		return page("evaluations") + "?evaluation=" + url.QueryEscape(u.Query().Get("currentEval")), true
	}
	if list, ok := listsOfNomad[parts[0]]; ok {
		return in(page(list), namespace), true
	}
	if slices.Contains(lists, parts[0]) && len(parts) == 1 && rest != parts[0] && parts[0] != "" {
		return in(page(parts[0]), namespace), true // without the last slash
	}
	return "", false
}

// fromJob maps NAME@NAMESPACE, and what follows it.
func fromJob(parts []string, namespace string) string {
	name, ns := cutNamespace(parts[0])
	if ns == "" {
		ns = namespace
	}
	if len(parts) > 1 {
		if tab := tabsOfJob[parts[1]]; tab != "" {
			return Job(name, ns, tab)
		}
		if _, known := tabsOfJob[parts[1]]; !known { // a group
			return Job(name, ns, "instances")
		}
	}
	return Job(name, ns)
}

// cutNamespace splits NAME@NAMESPACE. A name may contain "@" too.
func cutNamespace(s string) (name, namespace string) {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// fromAllocation maps ID, ID/fs, ID/TASK, ID/TASK/logs and ID/TASK/fs.
func fromAllocation(parts []string) string {
	tab := ""
	if len(parts) > 1 {
		tab = parts[1]
	}
	if len(parts) > 2 && tab != "fs" {
		tab = parts[2]
	}
	switch tab {
	case "logs":
		return Allocation(parts[0], "logs")
	case "fs":
		return Allocation(parts[0], "files")
	}
	return Allocation(parts[0])
}

// fromExec maps exec/JOB with the allocation as a parameter.
func fromExec(job string, query url.Values) string {
	if id := query.Get("allocation"); id != "" {
		return Allocation(id, "exec")
	}
	name, ns := cutNamespace(job)
	if ns == "" {
		ns = query.Get("namespace")
	}
	return Job(name, ns, "instances")
}

// fromVariable maps variables/path/PREFIX and variables/var/PATH@NAMESPACE.
func fromVariable(parts []string) string {
	name, ns := cutNamespace(strings.Join(parts[1:], "/"))
	if name == "" {
		return page("variables")
	}
	address := page("variables") + "?path=" + url.QueryEscape(name)
	if ns != "" && ns != defaultNamespace {
		address += "&namespace=" + url.QueryEscape(ns)
	}
	return address
}
