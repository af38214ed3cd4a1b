// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"sort"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// readChildren lists the child jobs of a job, newest first.
func readChildren(ctx context.Context, cl *client.Client, parent string) ([]*api.JobListStub, error) {
	q := client.QueryOptions{Prefix: parent + "/", Filter: "ParentID == " + strconv.Quote(parent)}
	children, err := listAll(ctx, q, cl.Jobs().List)
	sort.SliceStable(children, func(a, b int) bool { return children[a].SubmitTime > children[b].SubmitTime })
	return children, err
}
