import { encodeFunctionData, parseAbi } from 'viem/utils'
import { type AllowanceEntry, allowanceKey } from '../domain/allowance.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../domain/ids.js'
import { PERMIT2 } from './well-known.js'

/** A call for the wallet to send, with value 0. */
export interface RevokeCall {
  readonly chainId: number
  readonly to: Address
  readonly value: 0n
  readonly data: Hex
  readonly ends: readonly AllowanceEntry[]
}

/** Pairs in one `lockdown`: about 6,000 gas each, far from any block's limit. */
const LOCKDOWN_PAIRS_MAX = 64

const REVOKE_ABI = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function lockdown((address token, address spender)[] approvals)',
])

/**
 * The calls that revoke the given allowances. Entries of one key are revoked once; those within
 * Permit2 share calls. An ERC-721 approval without its token id cannot be revoked by name and is
 * left out.
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
