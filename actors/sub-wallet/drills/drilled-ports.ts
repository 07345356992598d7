import type { ChainAccess, Chains } from '../../../src/chains/access.js'
import type { RpcClient } from '../../../src/chains/rpc/types.js'
import { sleep } from '../../../src/clock/timers.js'
import type { Drill } from '../../../src/domain/drill.js'
import type { Screener } from '../../../src/screening/screener.js'
import { createCallQuoter } from '../../../src/valuation/call-quoter.js'
import { STALE_PRICES } from '../../../src/valuation/stale-prices.js'
import type { SubWalletPorts } from '../ports.js'

/** The reason that operators read in the logs. */
const ASKED_FOR = 'asked for by the caller, to see what happens'

/** Less than the timeout of a request to a node (8 s), after which another node is tried. */
const SLOW_NODE_MS = 5_000

/** Returns the ports that a sub-wallet's effects call while the fault lasts. */
export function drilledPorts(drill: Drill, ports: SubWalletPorts): SubWalletPorts {
  switch (drill) {
    case 'slow-node':
      return { ...ports, chains: behind(ports.chains, (rpc) => slow(rpc, ports)) }
    case 'dropped-broadcast':
      return { ...ports, chains: behind(ports.chains, losing) }
    case 'feed-stale': {
      const quoter = createCallQuoter(ports.chains, STALE_PRICES)
      return { ...ports, prices: STALE_PRICES, quoter }
    }
    case 'cosigner-away': {
      const away = { ok: false, reason: 'UNAVAILABLE', detail: ASKED_FOR } as const
      const sign = () => Promise.resolve(away)
      return { ...ports, coSigner: { ...ports.coSigner, sign } }
    }
    case 'screening-away': {
      const { screener } = ports
      const verdict = { outcome: 'unavailable', lists: [], reason: ASKED_FOR } as const
      const screen = () => verdict
      return { ...ports, screener: Object.assign(Object.create(screener) as Screener, { screen }) }
    }
    case 'reorg':
      return ports
  }
}

function behind(chains: Chains, seen: (rpc: RpcClient) => RpcClient): Chains {
  const drilled = new Map<number, ChainAccess>()
  for (const [id, chain] of chains) drilled.set(id, { ...chain, rpc: seen(chain.rpc) })
  return drilled
}

/** The node receives the bytes late, and answers then. */
function slow(rpc: RpcClient, { timers }: SubWalletPorts): RpcClient {
  return {
    ...rpc,
    async sendRawTransaction(raw) {
      await sleep(timers, SLOW_NODE_MS)
      return rpc.sendRawTransaction(raw)
    },
    async sendEverywhere(raw) {
      await sleep(timers, SLOW_NODE_MS)
      return rpc.sendEverywhere(raw)
    },
  }
}

/** The bytes are lost on their way, so no node answers. */
function losing(rpc: RpcClient): RpcClient {
  const lost = { kind: 'indeterminate', text: ASKED_FOR } as const
  return {
    ...rpc,
    sendRawTransaction: () => Promise.resolve(lost),
    sendEverywhere: () =>
      Promise.resolve({ isTaken: false, isNonceTooLow: false, otherwise: lost }),
  }
}
