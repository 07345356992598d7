import {
  type Enlargement,
  enlargements,
  type GrantTerms,
  grantedOf,
} from '../../domain/grant-terms.js'
import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import type { Grant } from './granted.js'
import type { LedgerStore } from './ledger-store.js'

/** What is above a grant: the lineages whose keys made it, each of which bounds it. */
export interface Ancestor {
  readonly grantId: Uint8Array
  readonly grant: Grant
  /** When the last of its keys ends; null: never. In the past: all are gone, and what they made. */
  readonly endsAtMs: number | null
}

type GrantReader = Pick<LedgerStore, 'grant' | 'key'>

const NONE: readonly Ancestor[] = []
const ENDED_MS = 0

/** Nearest first; of what a user made, none. */
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

/** When the last key of a lineage ends; null: never. */
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

/** What terms give that one of those above does not have. */
export function beyond(ancestors: readonly Ancestor[], terms: GrantTerms): Enlargement[] {
  return ancestors.flatMap(({ grant, endsAtMs }) =>
    enlargements({ ...grantedOf(grant), expiresAtMs: endsAtMs }, terms),
  )
}
