// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// operator is the name under which the demo's decisions are recorded.
const operator = "demo"

// Versions of inventory and checkout.
const (
	oldInventory     = "1.0.0"
	currentInventory = "1.1.0"
	newInventory     = "1.2.0"
	newCheckout      = "1.9.0"
)

// shiftedAtStart is the share of the traffic that the new version of inventory has at the start.
const shiftedAtStart = 0.3

// A Filler fills an agent with the shop.
type Filler struct {
	Client    *client.Client // of the namespace default
	Router    string         // host:port of the agent's router
	Simulated int            // number of simulated nodes
	Say       func(format string, args ...any)
}

// Fill brings the shop to its state: it registers all jobs, and waits until each has reached the
// state that the demo shows. An error names the parts that
// are missing; the others work.
func (f *Filler) Fill(ctx context.Context) error {
	if err := f.prepare(ctx); err != nil {
		return err
	}
	if err := f.register(ctx); err != nil {
		return err
	}
	f.Say("Registered the jobs of the shop.")
	parts := []func(context.Context) error{f.canary, f.restart, f.stacks, f.dispatch}
	errs := make([]error, len(parts))
	var group sync.WaitGroup
	for i, part := range parts {
		group.Go(func() { errs[i] = part(ctx) })
	}
	group.Wait()
	if err := errors.Join(append(errs, f.trouble(ctx))...); err != nil {
		return err
	}
	return f.put(ctx, filled, map[string]string{"router": f.Router})
}

// put stores a variable.
func (f *Filler) put(ctx context.Context, path string, items map[string]string) error {
	_, err := f.Client.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: items})
	if err != nil {
		return fmt.Errorf("store the variable %s: %w", path, err)
	}
	return nil
}

// prepare creates the objects that the jobs need: variables, a namespace with a quota, a volume.
func (f *Filler) prepare(ctx context.Context) error {
	for path, items := range map[string]map[string]string{
		"nomad/jobs/payments": {"bank_key": "not-a-real-key"},
		"shop/currency":       {"code": "EUR", "decimals": "2"},
		"shop/features":       {"express_delivery": "true", "gift_cards": "false"},
	} {
		if err := f.put(ctx, path, items); err != nil {
			return err
		}
	}
	memory, allocations := 128, 4
	quota := &api.Quota{Name: "staging", Description: "for copies of the shop", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{MemoryMB: &memory, Allocations: &allocations}}}}
	if _, err := f.Client.Quotas().Put(ctx, quota); err != nil {
		return fmt.Errorf("create the quota staging: %w", err)
	}
	if _, err := f.Client.Namespaces().Put(ctx, &api.Namespace{Name: "staging", Description: "for copies of the shop", Quota: "staging"}); err != nil {
		return fmt.Errorf("create the namespace staging: %w", err)
	}
	volume := &api.HostVolume{Name: "photos", PluginID: api.PluginMkdir, RequestedCapabilities: []*api.HostVolumeCapability{{AttachmentMode: "file-system", AccessMode: "single-node-writer"}}}
	if _, err := f.Client.Volumes().Create(ctx, volume); err != nil {
		return fmt.Errorf("create the volume photos: %w", err)
	}
	return nil
}

// register registers the jobs that are not stacks.
func (f *Filler) register(ctx context.Context) error {
	names := []string{"web", "cart", "checkout", "payments", "mail", "newsletter", "forecast", "invoices", "stock-report", "refund"}
	vars := map[string]map[string]string{}
	if f.Simulated > 0 {
		names = append(names, "search", "collector")
		vars["search"] = map[string]string{"count": strconv.Itoa(max(1, f.Simulated*3/2))}
	}
	for _, name := range names {
		if err := f.run(ctx, f.Client, name, vars[name]); err != nil {
			return err
		}
	}
	return f.run(ctx, f.Client.WithNamespace("staging"), "web", map[string]string{"host": "staging.shop.localhost"})
}

// run registers a job file.
func (f *Filler) run(ctx context.Context, cl *client.Client, name string, vars map[string]string) error {
	file, err := f.load(name, vars)
	if err != nil {
		return err
	}
	file.Job.Namespace = cl.Namespace()
	if _, err := cl.Jobs().Register(ctx, &api.RegisterJobRequest{Job: file.Job, Submission: file.Submission}); err != nil {
		return fmt.Errorf("register the job %s: %w", name, err)
	}
	return nil
}

func (f *Filler) load(name string, vars map[string]string) (*File, error) {
	all := map[string]string{"router": f.Router}
	for key, value := range vars {
		all[key] = value
	}
	return Load(name, all)
}

// canary rolls checkout out to a new version that waits after its first instance.
func (f *Filler) canary(ctx context.Context) error {
	if err := f.deployed(ctx, "checkout"); err != nil {
		return err
	}
	if err := f.run(ctx, f.Client, "checkout", map[string]string{"version": newCheckout}); err != nil {
		return err
	}
	request := &api.PlanRequest{Phase: "api", By: operator, Reason: "release the canary"}
	err := f.await(ctx, "the plan of checkout waits for its canary", func() error {
		_, err := f.Client.Plans().Do(ctx, "checkout", api.PlanDeploy, api.VerbContinue, request)
		return err
	})
	if err != nil {
		return err
	}
	return f.await(ctx, "the canary of checkout runs", func() error {
		return f.planWaits(ctx, "checkout", api.PlanDeploy)
	})
}

// planWaits returns nil if a plan has a complete step and waits for an operator.
func (f *Filler) planWaits(ctx context.Context, job, name string) error {
	p, _, err := f.Client.Plans().Get(ctx, job, name, nil)
	if err != nil {
		return err
	}
	if p.Status != api.PlanWaiting || p.Completed == 0 {
		return fmt.Errorf("the plan %s of %s is %s, with %d of %d steps complete", name, job, p.Status, p.Completed, p.Total)
	}
	return nil
}

// restart starts a rolling restart of cart, and pauses it after the first instance.
func (f *Filler) restart(ctx context.Context) error {
	if err := f.deployed(ctx, "cart"); err != nil {
		return err
	}
	r, err := f.Client.Restarts().Start(ctx, "cart", &api.JobRestartRequest{BatchSize: 1, BatchWait: 10 * time.Second, HealthGate: true, By: operator, Reason: "its memory grows"})
	if err != nil {
		return fmt.Errorf("restart cart: %w", err)
	}
	err = f.await(ctx, "the first instance of cart has restarted", func() error {
		p, _, err := f.Client.Plans().Get(ctx, "cart", api.PlanRestart, nil)
		if err == nil && p.Completed == 0 {
			err = fmt.Errorf("the restart of cart is %s", p.Status)
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := f.Client.Restarts().Pause(ctx, "cart", r.ID, &api.JobRestartVerbRequest{By: operator, Reason: "watch the memory of the first instance"}); err != nil {
		return fmt.Errorf("pause the restart of cart: %w", err)
	}
	return nil
}

// dispatch starts the parameterized job twice.
func (f *Filler) dispatch(ctx context.Context) error {
	for _, order := range []string{"4711", "4712"} {
		if _, err := f.Client.Jobs().Dispatch(ctx, &api.DispatchJobRequest{JobID: "refund", Meta: map[string]string{"order": order}}); err != nil {
			return fmt.Errorf("dispatch refund: %w", err)
		}
	}
	return nil
}

// trouble waits for the two jobs that cannot run.
func (f *Filler) trouble(ctx context.Context) error {
	crash := f.await(ctx, "newsletter crashes", func() error { return f.hasTrouble(ctx, "newsletter", api.TroubleExited) })
	return errors.Join(crash, f.await(ctx, "forecast has no place", func() error { return f.hasTrouble(ctx, "forecast", api.TroubleNoRoom) }))
}

func (f *Filler) hasTrouble(ctx context.Context, job string, kind api.TroubleKind) error {
	list, _, err := f.Client.Jobs().Troubles(ctx, job, nil)
	if err != nil {
		return err
	}
	var found []string
	for _, t := range list {
		if t.Kind == kind {
			return nil
		}
		found = append(found, t.Message)
	}
	return fmt.Errorf("its problems: %s", strings.Join(found, "; "))
}

// deployed waits until the deployment of a job is successful.
func (f *Filler) deployed(ctx context.Context, job string) error {
	return f.await(ctx, job+" is deployed", func() error {
		d, _, err := f.Client.Jobs().LatestDeployment(ctx, job, nil)
		switch {
		case err != nil:
			return err
		case d == nil:
			return errors.New("it has no deployment")
		case d.Status != api.DeploymentSuccessful:
			return errors.New(d.StatusDescription)
		}
		return nil
	})
}

const (
	awaitTimeout  = 90 * time.Second // of one condition; a small machine takes about 20 s
	awaitInterval = 200 * time.Millisecond
)

// await tries until it succeeds. Its error names the condition and the last failure.
func (f *Filler) await(ctx context.Context, condition string, try func() error) error {
	limit := time.NewTimer(awaitTimeout)
	defer limit.Stop()
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return fmt.Errorf("not within %s: %s: %w", awaitTimeout, condition, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
