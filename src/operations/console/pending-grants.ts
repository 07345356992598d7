import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../../domain/api-key.js'
import type { UserId } from '../../domain/ids.js'

/**
 * Changes that wait for the user's authorizer. In memory alone, since a new key's secret is among
 * them: after a restart the same request asks anew.
 */
export interface PendingGrants {
  /** @returns the id under which the same request may be repeated with a proof */
  add(pending: PendingGrant): string
  /** Takes it out, so that no two requests finish one change; null when it is not there. */
  take(id: string, userId: UserId, fingerprint: string): PendingGrant | null
  /** After a failure that the same id may be tried again after. */
  putBack(id: string, pending: PendingGrant): void
}

export interface PendingGrant {
  readonly userId: UserId
  /** Of operation and input: the repetition must ask for the same. */
  readonly fingerprint: string
  /** The key as it is to be. */
  readonly key: ApiKey
  /** Of a new key, to be shown once it is granted; null for a change. */
  readonly secret: string | null
  /** As the statement has it that the authorizer signs. */
  readonly version: number
  readonly confirmBeforeMs: number
}

/** All users together; past it the oldest is given up, and asked for anew. */
const PENDING_MAX = 10_000

export function createPendingGrants(): PendingGrants {
  const pending = new LRUCache<string, PendingGrant>({ max: PENDING_MAX })

  function keep(id: string, grant: PendingGrant): void {
    const lifeMs = grant.confirmBeforeMs - Date.now()
    if (lifeMs > 0) pending.set(id, grant, { ttl: lifeMs })
  }

  return {
    add(grant) {
      const id = `authz_${randomBytes(16).toString('base64url')}`
      keep(id, grant)
      return id
    },
    take(id, userId, fingerprint) {
      const found = pending.get(id)
      if (found?.userId !== userId || found.fingerprint !== fingerprint) return null
      pending.delete(id)
      return found
    },
    putBack: keep,
  }
}
