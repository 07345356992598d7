import { BASE_CHAIN_ID, CHAIN_COUNT } from '../../src/domain/chains.js'
import type { DevFile } from './dev-file.js'

/** Anybody's address: the commands must work when pasted. */
const RECIPIENT = '0x000000000000000000000000000000000000dEaD'

/** What a newcomer reads once everything runs: where it is, and three commands to paste. */
export function banner(dev: DevFile, home: string): string {
  const key = `-H 'X-Api-Key: ${dev.keys.trade.secret}'`
  const usdc = dev.tokens[BASE_CHAIN_ID]?.USDC ?? ''
  const body = JSON.stringify({ chain_id: BASE_CHAIN_ID, to: RECIPIENT, value: '1000000000000000' })
  return `
  Countersign runs at ${dev.base_url}

    console     ${dev.console_url}   ${dev.user.email} / ${dev.user.password}
    MCP         ${dev.mcp_url}
    wallet      ${dev.address}   10 native and 50,000 USDC on each of ${CHAIN_COUNT} chains
    trade key   ${dev.keys.trade.secret}
    read key    ${dev.keys.read.secret}
    home        ${home}   (dev.json has all of this; logs/ has the rest)

  Grants are confirmed by a software key, which live does not have. To confirm them yourself:
    ${dev.authorizers_url}   or   npx countersign authorizer create

  What may be spent:
    curl -s ${dev.base_url}/api/limits ${key}

  What is there, in USDC on Base:
    curl -s '${dev.base_url}/api/wallet/balance?chain_id=${BASE_CHAIN_ID}&token=${usdc}' ${key}

  Send 0.001 ETH on Base:
    curl -s ${dev.base_url}/api/tx/send ${key} -H 'Content-Type: application/json' -d '${body}'

  Ctrl-C stops everything; npx countersign start brings it back as it was.
`
}
