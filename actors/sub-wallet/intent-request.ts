import { createHash } from 'node:crypto'
import type { TxId } from '../../src/domain/ids.js'

/** What the quorum is asked for of one sponsored call; `again` is an authorization at a nonce that was held. */
export type IntentPurpose = 'intent' | 'authorization' | 'again'

/** 16 bytes in place of the caller's request in both domains' evidence, one per signature. */
export function intentRequestBytes(
  { requestId, txId }: { readonly requestId: string; readonly txId: TxId },
  purpose: IntentPurpose,
): Uint8Array {
  const text = `${requestId} ${txId} ${purpose}`
  return createHash('sha256').update(text).digest().subarray(0, 16)
}
