import { encodeFunctionData, parseAbi } from 'viem'
import type { SimulatedApproval } from '../chains/simulate/simulation.js'
import type { Address, Hex, TxId } from '../domain/ids.js'
import type { CallQuote } from './quoter.js'
import { PERMIT2, ZERO_ADDRESS } from './well-known.js'

/**
 * The ledger of what a wallet ever let others take. An entry says that a transaction of ours made
 * an approval, not that it still stands: only the chain knows that (`live-allowances.ts`).
 */
export interface AllowanceEntry {
  readonly chainId: number
  readonly token: Address
  readonly spender: Address
  readonly kind: SimulatedApproval['kind']
  /** ERC-721 approvals of one item; null elsewhere, and where the calldata did not name it. */
  readonly tokenId: bigint | null
  /** The transaction that made it. */
  readonly txId: TxId
}

/** What an accepted quote adds to the ledger once its transaction is signed. */
export function allowanceEntries(
  quote: Extract<CallQuote, { ok: true }>,
  chainId: number,
  txId: TxId,
): readonly AllowanceEntry[] {
  return quote.forecast.approvals.map(({ token, spender, kind, tokenId }) => ({
    chainId,
    token,
    spender,
    kind,
    tokenId: tokenId ?? null,
    txId,
  }))
}

/** Equal for entries that one revocation ends; the newer one takes the older one's place. */
export function allowanceKey({ chainId, kind, token, spender, tokenId }: AllowanceEntry): string {
  return `${chainId}:${kind}:${token}:${spender}:${tokenId ?? ''}`.toLowerCase()
}

/** Lower-case addresses of everyone the entries name, as the quoter takes them. */
export function spendersOfEntries(entries: readonly AllowanceEntry[]): ReadonlySet<string> {
  return new Set(entries.map(({ spender }) => spender.toLowerCase()))
}

/** A call for the wallet to send, value 0. */
export interface RevokeCall {
  readonly chainId: number
  readonly to: Address
  readonly value: 0n
  readonly data: Hex
  readonly ends: readonly AllowanceEntry[]
}

/** Pairs in one `lockdown`: some 6,000 gas each, far from any block's limit. */
const LOCKDOWN_PAIRS_MAX = 64

const REVOKE_ABI = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function lockdown((address token, address spender)[] approvals)',
])

/**
 * The calls that end the given approvals. Entries of one key are ended once; those by Permit2
 * share calls. An ERC-721 approval without its token id cannot be ended by name and is left out.
 */
export function revokeCalls(entries: readonly AllowanceEntry[]): readonly RevokeCall[] {
  const distinct = new Map(entries.map((entry) => [allowanceKey(entry), entry]))
  const calls: RevokeCall[] = []
  const locked = new Map<number, AllowanceEntry[]>()
  for (const entry of distinct.values()) {
    if (entry.kind === 'permit2') {
      const pairs = locked.get(entry.chainId)
      if (pairs === undefined) locked.set(entry.chainId, [entry])
      else pairs.push(entry)
      continue
    }
    const data = endOf(entry)
    if (data === null) continue
    calls.push({ chainId: entry.chainId, to: entry.token, value: 0n, data, ends: [entry] })
  }
  for (const [chainId, pairs] of locked) {
    for (let at = 0; at < pairs.length; at += LOCKDOWN_PAIRS_MAX) {
      const ends = pairs.slice(at, at + LOCKDOWN_PAIRS_MAX)
      const args = [ends.map(({ token, spender }) => ({ token, spender }))] as const
      const data = encodeFunctionData({ abi: REVOKE_ABI, functionName: 'lockdown', args })
      calls.push({ chainId, to: PERMIT2, value: 0n, data, ends })
    }
  }
  return calls
}

function endOf({ kind, spender, tokenId }: AllowanceEntry): Hex | null {
  if (kind === 'collection') {
    const args = [spender, false] as const
    return encodeFunctionData({ abi: REVOKE_ABI, functionName: 'setApprovalForAll', args })
  }
  if (kind === 'erc721') return tokenId === null ? null : approveData(ZERO_ADDRESS, tokenId)
  return approveData(spender, 0n)
}

function approveData(spender: Address, amount: bigint): Hex {
  const args = [spender, amount] as const
  return encodeFunctionData({ abi: REVOKE_ABI, functionName: 'approve', args })
}
