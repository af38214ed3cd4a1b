#!/bin/sh
exec /usr/local/bin/serve --once
