import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'

/**
 * The pool rules of geth that anvil does not have (`core/txpool/legacypool/legacypool.go`):
 * replacements need +10 % in both fee fields; an account with delegated code has one transaction
 * in flight and no gaps; an authority with more than one pooled transaction may not sign a
 * type-4's authorization.
 */
export interface PoolRules {
  /** @returns geth's error text, or null when the pool would take it */
  admit(raw: `0x${string}`): Promise<string | null>
}

interface Pooled {
  readonly raw: `0x${string}`
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

type Ask = (method: string, params: unknown[]) => Promise<unknown>

const REPLACEMENT_BUMP_PERCENT = 10n
const DELEGATION_PREFIX = '0xef0100'

export function createPoolRules(ask: Ask): PoolRules {
  const pools = new Map<string, Map<number, Pooled>>()

  async function poolOf(sender: string): Promise<{ pool: Map<number, Pooled>; next: number }> {
    const next = Number(await ask('eth_getTransactionCount', [sender, 'latest']))
    const pool = pools.get(sender) ?? new Map<number, Pooled>()
    for (const [nonce, { raw }] of pool) {
      // The node behind may have dropped it, or mined it and lost it to a reorg.
      if (nonce < next || (await ask('eth_getTransactionByHash', [keccak256(raw)])) === null) {
        pool.delete(nonce)
      }
    }
    pools.set(sender, pool)
    return { pool, next }
  }

  return {
    async admit(raw) {
      const tx = parseTransaction(raw as TransactionSerialized)
      const sender = await recoverTransactionAddress({
        serializedTransaction: raw as TransactionSerialized,
      })
      const { pool, next } = await poolOf(sender)
      const nonce = tx.nonce ?? 0
      const held = pool.get(nonce)
      if (held?.raw === raw) return 'already known'
      const entry: Pooled = {
        raw,
        maxFeePerGas: tx.maxFeePerGas ?? tx.gasPrice ?? 0n,
        maxPriorityFeePerGas: tx.maxPriorityFeePerGas ?? tx.gasPrice ?? 0n,
      }
      const code = String(await ask('eth_getCode', [sender, 'latest']))
      if (code.startsWith(DELEGATION_PREFIX) && held === undefined) {
        if (pool.size > 0) return 'in-flight transaction limit reached for delegated accounts'
        if (nonce > next) return 'gapped-nonce tx from delegated accounts'
      }
      const authorizations = tx.type === 'eip7702' ? (tx.authorizationList ?? []) : []
      for (const authorization of authorizations) {
        const authority = await recoverAuthorizationAddress({ authorization })
        if ((await poolOf(authority)).pool.size > 1) return 'authority already reserved'
      }
      if (
        held !== undefined &&
        !(bumped(entry, held, 'maxFeePerGas') && bumped(entry, held, 'maxPriorityFeePerGas'))
      ) {
        return 'replacement transaction underpriced'
      }
      if (nonce >= next) pool.set(nonce, entry)
      return null
    },
  }
}

function bumped(
  entry: Pooled,
  held: Pooled,
  field: 'maxFeePerGas' | 'maxPriorityFeePerGas',
): boolean {
  const wanted = (held[field] * (100n + REPLACEMENT_BUMP_PERCENT)) / 100n
  return entry[field] > held[field] && entry[field] >= wanted
}
