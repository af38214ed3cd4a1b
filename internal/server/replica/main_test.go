// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// childDir makes the test binary a server on that directory, to be killed.
const childDir = "REEVE_TEST_REPLICA_DIR"

// onlyCompacts makes that server take no snapshots except those that its log calls for.
const onlyCompacts = "REEVE_TEST_ONLY_COMPACTS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// small makes segments and snapshots come often.
func small(dir string) Config {
	return Config{Dir: dir, Store: state.New(), SegmentBytes: 16 << 10, SnapshotBytes: 64 << 10, TrailingEntries: 8}
}

// serve registers jobs from several goroutines until it is killed, and prints
// the name of each that was acknowledged.
func serve(dir string) error {
	r, err := Open(small(dir))
	if err != nil {
		return err
	}
	if reign := <-r.LeaderCh(); reign == 0 {
		return fmt.Errorf("not leading")
	}
	out := bufio.NewWriter(os.Stdout)
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, line)
		out.Flush()
	}
	say("ready")
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				id := os.Getenv("REEVE_TEST_ROUND") + "-" + strconv.Itoa(worker) + "-" + strconv.Itoa(i)
				if _, err := r.Propose(context.Background(), register(id)); err != nil {
					say("error " + err.Error())
					return
				}
				say("job " + id)
				if worker == 0 && i%50 == 49 && os.Getenv(onlyCompacts) == "" {
					if err := r.Snapshot(); err != nil {
						say("error " + err.Error())
					}
				}
			}
		})
	}
	all.Wait()
	return nil
}

func has(store *state.Store, id string) bool {
	return store.Snapshot().Job(api.DefaultNamespace, id) != nil
}
