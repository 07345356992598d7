import { encodeFunctionData, getAddress } from 'viem/utils'
import type { ChainAccess } from '../chains/access.js'
import type { StateAfter } from '../chains/simulate/simulation.js'
import { erc20Abi } from '../contracts/abis/erc20.js'
import { WITHOUT_FEE_BPS } from '../domain/exposure.js'
import type { Address } from '../domain/ids.js'

/**
 * Some tokens charge the sender a fee in addition to what they move: an allowance then permits
 * taking more from the wallet than its amount. The configuration marks tokens that are not plain
 * ones by leaving `transfer_gas_limit` null; for these a small transfer is simulated, which shows
 * what really leaves.
 *
 * Spec silent: a fee that was seen once is remembered for wallets that have too little of the token
 * for such a transfer; a token that no wallet ever held is assumed to charge none.
 * @param tokens lower-case; those for which allowances are given
 * @returns what leaves for 10,000 that are moved, by lower-case token, without tokens that charge
 * no fee
 */
type FeesOnTop = (
  chain: ChainAccess,
  wallet: Address,
  state: StateAfter | null,
  tokens: Iterable<string>,
) => Promise<ReadonlyMap<string, bigint>>

/**
 * An address without an owner. A token that exempts some receivers from its fee does not know it.
 */
const PROBE_RECEIVER: Address = '0x00000000000000000000000000000000feefee01'
const PROBE_DATA = encodeFunctionData({
  abi: erc20Abi,
  functionName: 'transfer',
  args: [PROBE_RECEIVER, WITHOUT_FEE_BPS],
})

export function createFeesOnTop(): FeesOnTop {
  /** The highest fee seen, by chain and token; as many as are configured. */
  const highest = new Map<string, bigint>()

  async function takenBy(
    chain: ChainAccess,
    wallet: Address,
    state: StateAfter | null,
    token: string,
  ): Promise<bigint> {
    const key = `${chain.config.id}${token}`
    const before = highest.get(key) ?? WITHOUT_FEE_BPS
    const call = { from: wallet, to: getAddress(token), data: PROBE_DATA, value: 0n }
    const seen = await chain.simulator.simulate(call, state ?? {})
    if (seen?.success !== true) return before
    let taken = 0n
    for (const { token: moved, from, to, amount } of seen.transfers) {
      if (moved === call.to && from === wallet && to !== wallet) taken += amount
    }
    if (taken > before) highest.set(key, taken)
    return taken
  }

  return async (chain, wallet, state, tokens) => {
    const asked = new Set(tokens)
    const unplain = chain.config.tokens.flatMap(({ address, transfer_gas_limit }) => {
      const token = address.toLowerCase()
      return transfer_gas_limit === null && asked.has(token) ? [token] : []
    })
    const found = new Map<string, bigint>()
    await Promise.all(
      unplain.map(async (token) => {
        const taken = await takenBy(chain, wallet, state, token)
        if (taken > WITHOUT_FEE_BPS) found.set(token, taken)
      }),
    )
    return found
  }
}
