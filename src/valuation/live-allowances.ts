import type { ChainAccess } from '../chains/access.js'
import { RpcCallError } from '../chains/rpc/errors.js'
import type { RpcResult } from '../chains/rpc/types.js'
import { addressWord, uintAt } from '../contracts/abi-words.js'
import { ALLOWANCE, PERMIT2_ALLOWANCE } from '../contracts/selectors.js'
import type { AllowanceEntry } from '../domain/allowance.js'
import type { Address, Hex } from '../domain/ids.js'
import { PERMIT2 } from './well-known.js'

/** An entry of the ledger with its present state on chain. */
export interface LiveAllowance {
  readonly entry: AllowanceEntry
  /**
   * In smallest units; 1 for one token id, `all` for a collection. Null when the contract does not
   * answer: the allowance may still be in force.
   */
  readonly amount: bigint | 'all' | null
}

/** The most entries of one call; a wallet with more is read page by page. */
const LIVE_ENTRIES_MAX = 1_000

/**
 * Unknown code answers: this is enough gas for any allowance, and too little for a large answer.
 */
const GAS_PER_READ = '0x30d40'

const IS_APPROVED_FOR_ALL = '0xe985e9c5'
const GET_APPROVED = '0x081812fc'

/**
 * Reads in one batch which allowances are still in force, and leaves out the others.
 * @param entries all of one chain
 * @param nowSeconds Unix time, by which Permit2's allowances expire
 * @throws what `RpcClient.request` throws, other than errors of the contracts themselves
 */
export async function readLiveAllowances(
  chain: ChainAccess,
  owner: Address,
  entries: readonly AllowanceEntry[],
  nowSeconds: number,
): Promise<readonly LiveAllowance[]> {
  if (entries.length > LIVE_ENTRIES_MAX) throw new RangeError('too many allowances in one call')
  const answers = await chain.rpc.batch(
    entries.map((entry) => {
      const { to, data } = readOf(entry, owner)
      return { method: 'eth_call', params: [{ to, data, gas: GAS_PER_READ }, 'latest'] }
    }),
  )
  return entries.flatMap((entry, i) => {
    const amount = amountOf(entry, answers[i], nowSeconds)
    return amount === 0n ? [] : [{ entry, amount }]
  })
}

function readOf(entry: AllowanceEntry, owner: Address): { to: Address; data: Hex } {
  const { token, spender, kind, tokenId } = entry
  const [who, whom] = [addressWord(owner), addressWord(spender)]
  switch (kind) {
    case 'erc20':
      return { to: token, data: `${ALLOWANCE}${who}${whom}` }
    case 'permit2':
      return { to: PERMIT2, data: `${PERMIT2_ALLOWANCE}${who}${addressWord(token)}${whom}` }
    case 'collection':
      return { to: token, data: `${IS_APPROVED_FOR_ALL}${who}${whom}` }
    case 'erc721': {
      const id = (tokenId ?? 0n).toString(16).padStart(64, '0')
      return { to: token, data: `${GET_APPROVED}${id}` }
    }
  }
}

function amountOf(
  entry: AllowanceEntry,
  answer: RpcResult | undefined,
  nowSeconds: number,
): LiveAllowance['amount'] {
  if (answer === undefined) return null
  if (!answer.ok) {
    if (!(answer.error instanceof RpcCallError)) throw answer.error
    return null
  }
  if (typeof answer.value !== 'string') return null
  const data = answer.value as Hex
  const word = uintAt(data, 0)
  if (word === null) return null
  switch (entry.kind) {
    case 'erc20':
      return word
    case 'permit2': {
      const expiresAt = uintAt(data, 1)
      return expiresAt !== null && expiresAt < BigInt(nowSeconds) ? 0n : word
    }
    case 'collection':
      return word === 0n ? 0n : 'all'
    case 'erc721':
      if (entry.tokenId === null) return null
      return word === BigInt(entry.spender) ? 1n : 0n
  }
}
