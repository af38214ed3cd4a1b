// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// rotationPatience is the time after which a rotation of the root waits for a person.
const rotationPatience = 10 * time.Minute

// Attention lists the conditions that wait for a person, the most urgent first. Only the leader
// knows all of them.
func (s *Server) Attention(now time.Time) []*api.Attention {
	v := s.store.Snapshot()
	external := v.Trust() != nil && v.Trust().External
	servers := s.Servers()
	list := attentionToServers(servers, v.Autopilot().MaxTrailingLogs, external, now)
	if t := s.term.Load(); t != nil {
		list = append(list, t.clocks.attention(servers)...)
	}
	if trust := v.Trust(); trust != nil && trust.CrossSigned != "" && now.Sub(time.Unix(0, trust.Rotated)) > rotationPatience {
		if status, err := s.CAStatus(); err == nil && len(status.Waiting) > 0 {
			list = append(list, &api.Attention{
				Kind: api.AttentionRoot, Since: time.Unix(0, trust.Rotated),
				Message: fmt.Sprintf("The rotation of the root waits for %s", count(len(status.Waiting), "member")),
				Next:    "reeve cluster ca show",
			})
		}
	}
	switch c := v.SchedulerConfig(); {
	case c.PauseEvalBroker:
		list = append(list, &api.Attention{Kind: api.AttentionScheduler, Message: "An operator paused scheduling: changes of jobs have no effect", Next: "reeve operator scheduler set-config -pause-eval-broker=false"})
	case c.RejectJobRegistration:
		list = append(list, &api.Attention{Kind: api.AttentionScheduler, Message: "An operator stopped the registration of jobs", Next: "reeve operator scheduler set-config -reject-job-registration=false"})
	}
	return append(list, s.refusals.list()...)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// attentionToServers lists the conditions of the servers, in the leader's view.
func attentionToServers(servers []*api.ServerStatus, maxTrailing uint64, external bool, now time.Time) (list []*api.Attention) {
	voters, answering := 0, 0
	versions := map[string][]string{}
	for _, m := range servers {
		if m.Voter && m.Status != api.ServerLeft {
			voters++
			if m.Status == api.ServerAlive {
				answering++
			}
		}
		list = append(list, attentionToServer(m, maxTrailing, external, now)...)
		if m.Status == api.ServerAlive && m.Version != "" {
			versions[m.Version] = append(versions[m.Version], m.Name)
		}
	}
	if len(versions) > 1 {
		var of []string
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			of = append(of, version+" on "+strings.Join(versions[version], ", "))
		}
		list = append(list, &api.Attention{Kind: api.AttentionVersion, Message: "Servers have different versions: " + strings.Join(of, "; "), Next: "Upgrade the others: see docs/upgrade.md"})
	}
	risk := &api.Attention{Kind: api.AttentionQuorum}
	switch {
	case voters < 2 || answering > voters/2+1:
		return list
	case voters == 2:
		risk.Message, risk.Next = "The cluster has 2 voting servers, and stops when one of them fails", "Add a third server: reeve cluster token show server"
	default:
		risk.Message = fmt.Sprintf("%d of %d voting servers answer: the cluster stops when another one fails", answering, voters)
		risk.Next = "Start the servers that do not answer: reeve server list"
	}
	return append([]*api.Attention{risk}, list...)
}

// attentionToServer lists the conditions of one server.
func attentionToServer(m *api.ServerStatus, maxTrailing uint64, external bool, now time.Time) (list []*api.Attention) {
	switch {
	case m.Status == api.ServerFailed:
		list = append(list, &api.Attention{
			Kind: api.AttentionServer, Since: now.Add(-m.LastContact),
			Message: fmt.Sprintf("Server %s does not answer", m.Name),
			Next:    fmt.Sprintf("Start it, or remove it: reeve server remove %s", api.ShortID(m.ID)),
		})
	case m.Status == api.ServerAlive && m.Trailing > maxTrailing:
		list = append(list, &api.Attention{
			Kind:    api.AttentionServer,
			Message: fmt.Sprintf("Server %s is %d log entries behind the leader", m.Name, m.Trailing),
			Next:    "Check the disk, the processor and the network of its machine",
		})
	}
	if m.Expires == 0 || m.Status == api.ServerLeft {
		return list
	}
	end := time.Unix(0, m.Expires)
	if left := end.Sub(now); left < attentionBefore(m, external) {
		next := fmt.Sprintf("The server renews it over and over: read the log of %s", m.Name)
		if external {
			next = "Replace the files of block tls on " + m.Name
		}
		text := "expires in " + left.Round(time.Minute).String()
		if left < 0 {
			text = "expired " + (-left).Round(time.Minute).String() + " ago"
		}
		list = append(list, &api.Attention{Kind: api.AttentionCertificate, Message: fmt.Sprintf("The certificate of server %s %s", m.Name, text), Next: next})
	}
	return list
}

// attentionBefore returns how long before its end a certificate waits for a person. Certificates
// of the cluster's authority renew themselves before, others have to be replaced.
func attentionBefore(m *api.ServerStatus, external bool) time.Duration {
	life := pki.DefaultLifetime
	if m.Issued != 0 {
		life = time.Duration(m.Expires - m.Issued)
	}
	if external {
		return life / 3
	}
	return life / 6 // the last renewal is due at a fifth
}
