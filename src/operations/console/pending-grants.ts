import { type Timers, unguessable } from '../../clock/timers.js'
import { createOwnedCache } from '../../custody/authorizers/owned-cache.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { UserId } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'

/**
 * Changes that wait for the user's authorizer. In memory alone, since a new key's secret is among
 * them: after a restart the same request asks anew.
 */
export interface PendingGrants {
  /**
   * @returns the id under which the same request may be repeated with a proof; RATE_LIMITED when
   * too many of that user's wait already
   */
  add(pending: PendingGrant): Result<string>
  /** Takes it out, so that no two requests finish one change; null when it is not there. */
  take(id: string, userId: UserId, fingerprint: string): PendingGrant | null
  /** After a failure that the same id may be tried again after. */
  putBack(id: string, pending: PendingGrant): void
}

export interface PendingGrant {
  readonly userId: UserId
  /** Of operation and input: the repetition must ask for the same. */
  readonly fingerprint: string
  /** The key as it is to be; null for what makes or changes none. */
  readonly draft: DraftKey | null
  /** As the statement has it that the authorizer signs. */
  readonly version: number
  readonly confirmBeforeMs: number
}

export interface DraftKey {
  readonly key: ApiKey
  /** Of a new key, to be shown once it is granted; null for a change. */
  readonly secret: string | null
}

/** All users together; past it the oldest is given up, and asked for anew. */
const PENDING_MAX = 10_000
/** Spec silent: more than a person confirms in the ten minutes that each of them waits. */
export const PENDING_PER_USER_MAX = 32

export function createPendingGrants(timers: Pick<Timers, 'now' | 'random'>): PendingGrants {
  const pending = createOwnedCache<PendingGrant>({
    max: PENDING_MAX,
    perUserMax: PENDING_PER_USER_MAX,
  })

  function keep(id: string, grant: PendingGrant): number | null {
    return pending.add(id, grant.userId, grant, grant.confirmBeforeMs - timers.now())
  }

  return {
    add(grant) {
      const id = `authz_${unguessable(timers)}`
      const fullForMs = keep(id, grant)
      return fullForMs === null ? ok(id) : refuse(tooMany(fullForMs))
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

function tooMany(fullForMs: number) {
  const retry_after_seconds = Math.ceil(fullForMs / 1_000)
  return fault(
    'RATE_LIMITED',
    { pending_max: PENDING_PER_USER_MAX, retry_after_seconds },
    `${PENDING_PER_USER_MAX} changes wait for your confirmation already; confirm one, or wait until one ends.`,
  )
}
