import { createHash } from 'node:crypto'
import type { TxId } from '../../src/domain/ids.js'

/**
 * What the quorum signs for one sponsored call; `again` is an authorization at a nonce that another
 * approval was bound to.
 */
export type IntentPurpose = 'intent' | 'authorization' | 'again'

/**
 * Derives 16 bytes per signature that stand for the caller's request in the evidence of both
 * domains.
 */
export function intentRequestBytes(
  { requestId, txId }: { readonly requestId: string; readonly txId: TxId },
  purpose: IntentPurpose,
): Uint8Array {
  const text = `${requestId} ${txId} ${purpose}`
  return createHash('sha256').update(text).digest().subarray(0, 16)
}
