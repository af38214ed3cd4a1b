// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// age says how long ago t was, in one or two units.
func age(now, t time.Time) string {
	if t.IsZero() || t.Unix() == 0 {
		return ""
	}
	d := now.Sub(t)
	if d < 0 {
		d = 0
	}
	return shortDuration(d) + " ago"
}

// nanosAge is age for a time in Unix nanoseconds.
func nanosAge(now time.Time, nanos int64) string {
	if nanos == 0 {
		return ""
	}
	return age(now, time.Unix(0, nanos))
}

// shortDuration writes a duration in its one or two largest units: 3m12s,
// 5h40m, 12d3h.
func shortDuration(d time.Duration) string {
	d = d.Round(time.Second)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return two(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	}
	return two(d/day, "d", d%day/time.Hour, "h")
}

func two(a time.Duration, unitA string, b time.Duration, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unitA)
	}
	return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
}

// when writes a time for people, with its age.
func when(now time.Time, nanos int64) string {
	if nanos == 0 {
		return ""
	}
	t := time.Unix(0, nanos)
	return t.In(now.Location()).Format(time.RFC3339) + " (" + age(now, t) + ")"
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// megabytes writes a size in MB for people.
func megabytes(mb int64) string {
	if mb >= 1024 {
		return fmt.Sprintf("%.1f GiB", float64(mb)/1024)
	}
	return fmt.Sprintf("%d MiB", mb)
}

// byteSize writes a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// ports are the ports that an allocation owns on its node.
func ports(a *api.Allocation) []api.PortMapping {
	if a.AllocatedResources == nil {
		return nil
	}
	return a.AllocatedResources.Shared.Ports
}

// addresses are where an allocation's ports are reached: label and host:port.
func addresses(a *api.Allocation) []string {
	var list []string
	for _, p := range ports(a) {
		list = append(list, fmt.Sprintf("%s %s", p.Label, hostPort(p)))
	}
	return list
}

func hostPort(p api.PortMapping) string {
	host := p.HostIP
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, p.Value)
}

// dash stands in for a value that there is none of.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
