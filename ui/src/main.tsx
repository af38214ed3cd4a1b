// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { render } from 'preact';
import { connect } from './link/link';
import { App } from './shell/app';
import { startKeys } from './shell/keys';
import { tradeCode } from './shell/login';
import { startRouting } from './shell/place';
import { applyTheme } from './shell/theme';
import { turnDay } from './words/time';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';

applyTheme();
startRouting();
startKeys();
turnDay();
setInterval(turnDay, 10_000);
await connect();
void tradeCode();
const app = document.getElementById('app')!;
app.replaceChildren();
render(<App />, app);
