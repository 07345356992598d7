import type { LiveChoices } from '../../src/cli/live/installation-files.js'
import { CHAIN_IDS } from '../../src/domain/chains.js'

/** What an operator of a live instance chose. */
export const LIVE_CHOICES: LiveChoices = {
  chains: CHAIN_IDS,
  usdcFeeds: new Map(),
  serviceUrl: new URL('https://w.example.com'),
  identityUrl: new URL('https://id.example.com'),
  servicePort: '8080',
  identityPort: '3100',
  home: '/var/lib/countersign',
  fileKeys: false,
  packageRoot: '/opt/countersign',
  node: '/usr/bin/node',
}
