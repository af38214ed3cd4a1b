// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// getFrameworkID answers with an id that the service keeps while it is registered.
func getFrameworkID(q *request) error {
	return q.json(http.StatusOK, []string{derivedID("framework", q.job.Namespace, q.job.ID, strconv.FormatUint(q.job.CreateIndex, 10))})
}

// listFiles answers with an empty list: Reeve stores nothing for a service but its job.
func listFiles(q *request) error {
	q.text(http.StatusOK, "[]")
	return nil
}

func getFile(q *request) error { return notFound("File", q.r.PathValue("file")) }

func putFile(*request) error {
	return failf(http.StatusNotImplemented, "files are not kept for a service: put the text into a template or the meta of its job")
}

// zones returns the zones of the service's live tasks, by task name.
func (q *request) zones() (map[string]string, error) {
	pods, err := q.pods()
	zones := map[string]string{}
	for _, p := range pods {
		if p.allocation == nil || p.allocation.IsTerminal() {
			continue
		}
		for _, t := range p.tasks() {
			zones[p.taskName(t.Name)] = q.zoneOf(p.allocation.NodeID)
		}
	}
	return zones, err
}

// zoneOf returns the zone of a node, or its datacenter if it has no zone.
func (q *request) zoneOf(id string) string {
	n := q.v.Node(id)
	if n == nil {
		return ""
	}
	for _, key := range []string{"zone", "platform.aws.placement.availability-zone"} {
		if zone := n.Meta[key]; zone != "" {
			return zone
		}
		if zone := n.Attributes[key]; zone != "" {
			return zone
		}
	}
	return n.Datacenter
}

func getTaskZones(q *request) error {
	zones, err := q.zones()
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, zones)
}

func getTaskZone(q *request) error {
	zones, err := q.zones()
	if err != nil {
		return err
	}
	zone, ok := zones[q.r.PathValue("task")]
	if !ok {
		return notFound("Task", q.r.PathValue("task"))
	}
	q.text(http.StatusOK, zone)
	return nil
}

// getAddressZone returns the zone of the pod of a type that runs at an address.
func getAddressZone(q *request) error {
	pods, err := q.pods()
	if err != nil {
		return err
	}
	for _, p := range pods {
		if p.Group != q.r.PathValue("pod") || p.allocation == nil || p.allocation.IsTerminal() {
			continue
		}
		if n := q.v.Node(p.allocation.NodeID); n != nil && addressOf(n) == q.r.PathValue("ip") {
			q.text(http.StatusOK, q.zoneOf(n.ID))
			return nil
		}
	}
	return failf(http.StatusNotFound, "Pod %s at %s not found", q.r.PathValue("pod"), q.r.PathValue("ip"))
}

func addressOf(n *api.Node) string {
	if host, _, err := net.SplitHostPort(n.HTTPAddr); err == nil {
		return host
	}
	return n.HTTPAddr
}

// metaPrefix begins the names of properties that are meta of the job.
const metaPrefix = "meta."

// properties returns the names and values of all properties of the service.
func (q *request) properties() ([]string, map[string]string) {
	names := []string{"deployment-completed", "job-version"}
	values := map[string]string{
		"deployment-completed": strconv.FormatBool(q.hasBeenDeployed()),
		"job-version":          strconv.FormatUint(q.job.Version, 10),
	}
	for _, v := range variablesOf(q.job.Meta) {
		names = append(names, metaPrefix+v.Name)
		values[metaPrefix+v.Name] = v.Value
	}
	return names, values
}

// hasBeenDeployed reports whether a rollout of the job has ever succeeded.
func (q *request) hasBeenDeployed() bool {
	for d := range q.v.DeploymentsByJob(q.job.Namespace, q.job.ID) {
		if d.JobCreateIndex == q.job.CreateIndex && d.Status == api.DeploymentSuccessful {
			return true
		}
	}
	for _, job := range q.configurations() {
		if job.Stable {
			return true
		}
	}
	return false
}

func listProperties(q *request) error {
	names, _ := q.properties()
	return q.json(http.StatusOK, names)
}

func getProperty(q *request) error {
	name := q.r.PathValue("property")
	_, values := q.properties()
	text, ok := values[name]
	if !ok {
		names, _ := q.properties()
		return failf(http.StatusNotFound, "Property %s not found: there are %s", name, strings.Join(names, ", "))
	}
	q.text(http.StatusOK, text)
	return nil
}

// refreshState does nothing: every answer reads the present state.
func refreshState(q *request) error { return q.received("refresh") }
