import { parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem'
import { z } from 'zod'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { fromHex } from '../../quorum-protocol/transaction.js'
import type { AuditReport } from './verify-evidence.js'

/**
 * Transactions of the wallets as a chain reports them: raw if a node gives the bytes, otherwise
 * sender and nonce, which prove less.
 */
const onChain = z.union([
  z.strictObject({ raw: z.string().regex(/^0x(02|04)[0-9a-f]+$/i) }),
  z.strictObject({
    from: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
    chain_id: z.int().positive(),
    nonce: z.int().nonnegative(),
  }),
])

export const onChainTransactions = z.array(onChain).max(1_000_000)
type OnChainTransaction = z.infer<typeof onChain>

/** Tells why a transaction on chain has no evidence; null when it has. */
export async function missingEvidence(
  transaction: OnChainTransaction,
  report: AuditReport,
): Promise<string | null> {
  if (!('raw' in transaction)) {
    const { from, chain_id, nonce } = transaction
    const found = report.find(fromHex(from as `0x${string}`), chain_id, nonce)
    return found.length > 0 ? null : `${from} on chain ${chain_id}, nonce ${nonce}: no approval`
  }
  const raw = transaction.raw as `0x02${string}`
  const { r: _r, s: _s, v: _v, yParity: _y, ...unsigned } = parseTransaction(raw)
  const from = await recoverTransactionAddress({ serializedTransaction: raw })
  const { chainId, nonce } = unsigned
  const payloadHash = sha256(fromHex(serializeTransaction(unsigned)))
  const found = report.find(fromHex(from), chainId, nonce ?? 0)
  if (found.some((approved) => sameBytes(approved.payloadHash, payloadHash))) return null
  const reason = found.length > 0 ? 'approvals of other payloads only' : 'no approval'
  return `${from} on chain ${chainId}, nonce ${nonce ?? 0}: ${reason}`
}
