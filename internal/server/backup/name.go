// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	prefix     = "reeve-"
	suffix     = ".snap"
	timeFormat = "20060102T150405Z"
)

// A name is the parsed name of a snapshot's file:
// reeve-CLUSTER-TIME-INDEX-SERVER.snap, with the short ids of cluster and server.
type name struct {
	cluster string
	time    time.Time // UTC, whole seconds
	index   uint64    // of the state
	server  string    // that wrote it
}

func (n name) String() string {
	return fmt.Sprint(prefix, n.cluster, "-", n.time.Format(timeFormat), "-", n.index, "-", n.server, suffix)
}

// parseName accepts exactly the names that String returns.
func parseName(text string) (n name, ok bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, prefix), suffix), "-")
	if len(parts) != 4 {
		return name{}, false
	}
	at, err := time.Parse(timeFormat, parts[1])
	if err != nil {
		return name{}, false
	}
	index, err := strconv.ParseUint(parts[2], 10, 64)
	if err != nil {
		return name{}, false
	}
	n = name{parts[0], at, index, parts[3]}
	return n, n.String() == text && n.cluster == short(n.cluster) && n.server == short(n.server)
}

// short returns an id as it is in names: the beginning that commands show, without characters
// that separate parts of a name or of a path.
func short(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, api.ShortID(id))
}

// older orders snapshots of one cluster. Its indexes never decrease, and clocks may.
func older(a, b name) int {
	return cmp.Or(cmp.Compare(a.index, b.index), a.time.Compare(b.time), cmp.Compare(a.server, b.server))
}

// own returns the snapshots of this schedule in the directory, oldest first.
func (s *Schedule) own() ([]name, error) {
	entries, err := os.ReadDir(s.config.Directory)
	if err != nil {
		return nil, err
	}
	var names []name
	cluster, server := short(s.env.Cluster()), short(s.env.Server)
	for _, e := range entries {
		n, ok := parseName(e.Name())
		if ok && e.Type().IsRegular() && n.cluster == cluster && (s.config.LeaderOnly || n.server == server) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, older)
	return names, nil
}
