import {
  type Enlargement,
  enlargements,
  type GrantTerms,
  grantedOf,
} from '../../domain/grant-terms.js'
import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import type { Grant } from './granted.js'
import type { LedgerStore } from './ledger-store.js'

/** A grant above another one: its keys made the lower lineage, so it bounds it. */
export interface Ancestor {
  readonly grantId: Uint8Array
  readonly grant: Grant
  /**
   * The time when the last of its keys ends; null for never. Once it is past, the keys that they
   * made have ended too.
   */
  readonly endsAtMs: number | null
}

type GrantReader = Pick<LedgerStore, 'grant' | 'key'>

const NONE: readonly Ancestor[] = []
const ENDED_MS = 0

/** Returns the grants above, nearest first; empty for a grant that a user made. */
export function ancestorsOf(
  ledger: GrantReader,
  { parentId }: Pick<Grant, 'parentId'>,
): readonly Ancestor[] {
  if (parentId === null) return NONE
  const found: Ancestor[] = []
  for (let grantId: Uint8Array | null = parentId; grantId !== null; ) {
    const grant: Grant | null = ledger.grant(grantId)
    if (grant === null || found.length === SUB_KEY_DEPTH_MAX) {
      throw new Error('a grant whose makers are not in the ledger')
    }
    found.push({ grantId, grant, endsAtMs: endOf(ledger, grant) })
    grantId = grant.parentId
  }
  return found
}

/** Returns when the last key of a lineage ends; null for never. */
export function endOf(ledger: Pick<GrantReader, 'key'>, { liveKeys }: Grant): number | null {
  let lastMs = ENDED_MS
  for (const keyId of liveKeys) {
    const key = ledger.key(keyId)
    if (key === null || key.revoked) continue
    if (key.expiresAtMs === null) return null
    lastMs = Math.max(lastMs, key.expiresAtMs)
  }
  return lastMs
}

export function hasEnded({ endsAtMs }: Pick<Ancestor, 'endsAtMs'>, nowMs: number): boolean {
  return endsAtMs !== null && endsAtMs <= nowMs
}

/** Lists what the terms grant beyond one of the grants above. */
export function beyond(ancestors: readonly Ancestor[], terms: GrantTerms): Enlargement[] {
  return ancestors.flatMap(({ grant, endsAtMs }) =>
    enlargements({ ...grantedOf(grant), expiresAtMs: endsAtMs }, terms),
  )
}
