// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

const file = (count) => `
job "front" {
  group "web" {
    count = ${count}
    network {
      port "http" {}
    }
    service {
      name = "front"
      port = "http"
      tags = ["urlprefix-/"]
    }
    route {
      host = "front.localhost"
      port = "http"
    }
    task "t" {
      driver = "mock"
      config { run_for = "8760h" }
      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}`;

test('services and routes appear with the first instance that gets traffic, and go with the last', async () => {
  const services = await browser.open(`${agent.base}/ui/services`);
  const routes = await browser.open(`${agent.base}/ui/services/routes`);
  await services.getByText('No service has an instance that gets traffic').waitFor();
  await routes.getByText('No job has a route').waitFor();
  await agent.run(file(2));
  const row = routes.getByRole('row', { name: /front\.localhost/ });
  await row.getByText('2 of 2').waitFor();
  await services.getByRole('row', { name: /front.*default.*urlprefix-\// }).waitFor();
  await accessible(services);
  await accessible(routes);
  await services.getByRole('link', { name: 'front' }).click();
  const table = services.getByRole('table');
  await until('both instances are listed', async () => (await table.getByRole('row').count()) === 3);
  await agent.run(file(1));
  await until('one instance is listed', async () => (await table.getByRole('row').count()) === 2);
  await row.getByText('1 of 1').waitFor();
  await accessible(services);
  await agent.ask('DELETE', '/v1/job/front?purge=true');
  await services.goto(`${agent.base}/ui/services`);
  await services.getByText('No service has an instance that gets traffic').waitFor();
  await routes.getByText('No job has a route').waitFor();
  browser.check();
  await services.close();
  await routes.close();
});
