import type { Chains } from '../../src/chains/access.js'
import { sleep, type Timers } from '../../src/clock/timers.js'
import { GAS_WALLETS_PER_CHAIN, gasWalletId } from '../../src/domain/gas-wallets.js'
import type { Address, GasWalletId } from '../../src/domain/ids.js'
import type { ActorClient } from '../runtime/actor-client.js'

/** A gas wallet that is ready to send. */
export interface OpenGasWallet {
  readonly gasWalletId: GasWalletId
  readonly chainId: number
  readonly address: Address
}

const RETRY_MS = 250
/**
 * Six chains' keys take a few seconds at a first start; an unavailable quorum must not hold up the
 * start.
 */
const TIMEOUT_MS = 15_000

/**
 * Opens the gas wallets of every chain with a Router; a first start makes their keys. A wallet
 * whose key the quorum does not make in time is left out: the service runs, and sponsors nothing
 * with it.
 */
export async function openGasWallets(
  actors: Pick<ActorClient, 'ask'>,
  chains: Chains,
  timers: Timers,
): Promise<OpenGasWallet[]> {
  const deadlineMs = timers.elapsed() + TIMEOUT_MS
  const wanted = [...chains.values()].filter(({ config }) => config.router !== null)
  const opened = await Promise.all(
    wanted.flatMap(({ config: { id: chainId } }) =>
      Array.from({ length: GAS_WALLETS_PER_CHAIN }, async (_, index) => {
        const id = gasWalletId(chainId, index)
        const address = await open(actors, id, deadlineMs, timers)
        return address === null ? null : { gasWalletId: id, chainId, address }
      }),
    ),
  )
  return opened.filter((wallet) => wallet !== null)
}

async function open(
  actors: Pick<ActorClient, 'ask'>,
  id: GasWalletId,
  deadlineMs: number,
  timers: Timers,
): Promise<Address | null> {
  for (;;) {
    const answer = await actors.ask({ kind: 'gas-wallet', id, userId: null }, { type: 'open' })
    if (answer.ok) return answer.value.address
    if (answer.fault.code === 'RECORD_DAMAGED' || timers.elapsed() >= deadlineMs) return null
    await sleep(timers, RETRY_MS)
  }
}
