import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/cli/connection.js'
import { BASE_CHAIN_ID, CHAIN_COUNT } from '../../src/domain/chains.js'
import { DAILY_LIMIT_USD, MONTHLY_LIMIT_USD } from './bootstrap.js'
import type { DevFile } from './dev-file.js'

/** A burn address: the commands must work when pasted. */
const RECIPIENT = '0x000000000000000000000000000000000000dEaD'

/**
 * The text for a newcomer once everything runs: the addresses, and three commands to paste. They
 * work in any shell and directory, because each contains the address, or the program and the home.
 */
export function banner(dev: DevFile, home: string): string {
  return `
  Countersign runs at ${dev.base_url}

${addresses(dev)}${whatIsThere(dev, home)}
  Ctrl-C stops everything; ${START} brings it back as it was.
`
}

export function addresses(dev: DevFile): string {
  return `    console     ${dev.base_url}/console
    docs        ${dev.base_url}/docs
    MCP         ${dev.mcp_url}
`
}

/** Describes the user, the wallet and the keys, with commands to paste. */
export function whatIsThere(dev: DevFile, home: string): string {
  const { trade, read } = dev.keys
  const command = commandOn(home)
  return `    sign-in     ${dev.user.email} / ${dev.user.password}
    wallet      ${dev.address}   10 native and 50,000 USDC on each of ${CHAIN_COUNT} chains
    trade key   ${trade?.secret ?? ENDED}
    read key    ${read?.secret ?? ENDED}
    home        ${home}   (dev.json has all of this; logs/ has the rest)
${trade === null || read === null ? newKeys(dev, command) : ''}
  Grants are confirmed by a software key, which live does not have, until you add one of your own:
    ${dev.authorizers_url}   or   ${command} authorizer create
${trade === null ? '' : commandsToPaste(dev, trade.secret)}`
}

/** Returns the command line with the home, from any directory. */
export function commandOn(home: string): string {
  const program = join(packageRoot(), 'scripts/countersign.mjs')
  return `node ${quoted(program)} --home ${quoted(home)}`
}

/** A published package has no toolchain to start with. */
const START = existsSync(join(packageRoot(), 'scripts/run.mjs'))
  ? 'npm start'
  : 'npx countersign start'

const ENDED = 'none: it was revoked or has expired; confirm a new one yourself'

/** Quotes text for any POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the commands for keys that only the user's own authorizer can confirm. */
function newKeys({ keys, sub_wallet_id: walletId }: DevFile, command: string): string {
  const caps = `--daily ${DAILY_LIMIT_USD} --monthly ${MONTHLY_LIMIT_USD}`
  const create = (permission: 'trade' | 'read') =>
    `    ${command} keys create 'dev ${permission}' --wallet ${walletId} --permission ${permission} ${caps}\n`
  return `
  New keys, confirmed by your authorizer (then: export COUNTERSIGN_API_KEY=sk_test_…):
${keys.trade === null ? create('trade') : ''}${keys.read === null ? create('read') : ''}`
}

function commandsToPaste(dev: DevFile, secret: string): string {
  const key = `-H 'X-Api-Key: ${secret}'`
  const usdc = dev.tokens[BASE_CHAIN_ID]?.USDC ?? ''
  const body = JSON.stringify({ chain_id: BASE_CHAIN_ID, to: RECIPIENT, value: '1000000000000000' })
  return `
  What may be spent:
    curl -s ${dev.base_url}/api/limits ${key}

  What is there, in USDC on Base:
    curl -s '${dev.base_url}/api/wallet/balance?chain_id=${BASE_CHAIN_ID}&token=${usdc}' ${key}

  Send 0.001 ETH on Base:
    curl -s ${dev.base_url}/api/tx/send ${key} -H 'Content-Type: application/json' -d '${body}'
`
}
