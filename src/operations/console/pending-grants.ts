import { type Timers, unguessable } from '../../clock/timers.js'
import { createOwnedCache } from '../../custody/authorizers/owned-cache.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { UserId } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'

/**
 * Changes that wait for the user's approver device. They are only in memory, because a new key's
 * secret may be among them; after a restart the same request starts again.
 */
export interface PendingGrants {
  /**
   * @returns the id under which the same request may be repeated with a proof; RATE_LIMITED if too
   * many of the user's changes wait
   */
  add(pending: PendingGrant): Result<string>
  /** Removes it, so that no two requests complete one change; null if it is missing. */
  take(id: string, userId: UserId, fingerprint: string): PendingGrant | null
  /** Restores it after a failure after which the same id may be tried again. */
  putBack(id: string, pending: PendingGrant): void
}

export interface PendingGrant {
  readonly userId: UserId
  /** Identifies operation and input; the repeated request must have the same. */
  readonly fingerprint: string
  /** The key as it will be; null if no key is created or changed. */
  readonly draft: DraftKey | null
  /** The version in the statement that the approver device signs. */
  readonly version: number
  readonly confirmBeforeMs: number
}

export interface DraftKey {
  readonly key: ApiKey
  /** The secret of a new key, shown once it is granted; null for a change. */
  readonly secret: string | null
}

/** Bound over all users; beyond it the oldest is dropped and has to be requested again. */
const PENDING_MAX = 10_000
/** Spec silent: more than a person confirms in the ten minutes that each change waits. */
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
    `${PENDING_PER_USER_MAX} changes already wait for your confirmation. Confirm one, or wait until one expires.`,
  )
}
