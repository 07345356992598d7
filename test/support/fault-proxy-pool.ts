import { LRUCache } from 'lru-cache'
import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'

/**
 * The pool rules of geth that anvil does not have (`core/txpool/legacypool/legacypool.go`): a
 * replacement needs 10 % more in both fee fields; an account with delegated code has at most one
 * transaction in flight and no gaps; an authority with more than one pooled transaction may not
 * sign a type-4's authorization.
 */
export interface PoolRules {
  /** @returns geth's error text, or null when the pool would accept the transaction */
  admit(raw: `0x${string}`): Promise<string | null>
}

interface Pooled {
  readonly raw: `0x${string}`
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

interface Pool {
  readonly pool: Map<number, Pooled>
  /** The account's next nonce on chain. */
  readonly next: number
  readonly delegated: boolean
}

/**
 * Makes several JSON-RPC calls in one request; returns their results in the same order, null for an
 * error.
 */
export type AskAll = (
  calls: readonly { readonly method: string; readonly params: readonly unknown[] }[],
) => Promise<readonly unknown[]>

const REPLACEMENT_BUMP_PERCENT = 10n
const DELEGATION_PREFIX = '0xef0100'
/** A cache for the bytes seen last: the same ones come again and again, and recovery is slow. */
const SENDERS_MAX = 20_000

export function createPoolRules(askAll: AskAll): PoolRules {
  const pools = new Map<string, Map<number, Pooled>>()
  const senders = new LRUCache<string, string>({ max: SENDERS_MAX })

  async function senderOf(raw: `0x${string}`): Promise<string> {
    const known = senders.get(raw)
    if (known !== undefined) return known
    const serializedTransaction = raw as TransactionSerialized
    const sender = await recoverTransactionAddress({ serializedTransaction })
    senders.set(raw, sender)
    return sender
  }

  async function poolOf(sender: string): Promise<Pool> {
    const pooled = pools.get(sender) ?? new Map<number, Pooled>()
    const asked = [...pooled]
    const [count, code, ...found] = await askAll([
      { method: 'eth_getTransactionCount', params: [sender, 'latest'] },
      { method: 'eth_getCode', params: [sender, 'latest'] },
      ...asked.map(([, { raw }]) => ({
        method: 'eth_getTransactionByHash',
        params: [keccak256(raw)],
      })),
    ])
    const next = Number(count)
    asked.forEach(([nonce, entry], i) => {
      // The node behind the proxy may have dropped it, or mined it and lost it to a reorg.
      const gone = nonce < next || found[i] === null
      if (gone && pooled.get(nonce) === entry) pooled.delete(nonce)
    })
    pools.set(sender, pooled)
    return { pool: pooled, next, delegated: String(code).startsWith(DELEGATION_PREFIX) }
  }

  return {
    async admit(raw) {
      const tx = parseTransaction(raw as TransactionSerialized)
      const { pool, next, delegated } = await poolOf(await senderOf(raw))
      const nonce = tx.nonce ?? 0
      const held = pool.get(nonce)
      if (held?.raw === raw) return 'already known'
      const entry: Pooled = {
        raw,
        maxFeePerGas: tx.maxFeePerGas ?? tx.gasPrice ?? 0n,
        maxPriorityFeePerGas: tx.maxPriorityFeePerGas ?? tx.gasPrice ?? 0n,
      }
      if (delegated && held === undefined) {
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
