import { type Freeze, type Freezes, type Freezing, freezeOf } from './freeze.js'
import type { LineageId, SubWalletId, UserId } from './ids.js'

/**
 * The freezes in force, as one thread knows them: an in-memory copy of the store's rows. Every call
 * that moves value reads it, so it must cost next to nothing while nothing is frozen.
 */
export interface FreezeBook {
  /** Null when neither the instance nor anything of the user is frozen. */
  of(userId: UserId): Freezes | null
  /** The freeze that stops calls of a key now; null when its calls are not stopped. */
  freezeOf(of: {
    readonly userId: UserId
    readonly subWalletId: SubWalletId
    readonly lineageId: LineageId
  }): Freezing | null
  /** The number of freezes in force, by scope. */
  counts(): Readonly<Record<Freezing['scope'], number>>
  /** Replaces all freezes of the user. */
  put(userId: UserId, freezes: readonly Freeze[]): void
}

/**
 * @param stored all freezes in force at a start
 * @param instance reads the operator's freeze of the whole instance, at each call
 */
export function createFreezeBook(
  stored: Iterable<Freeze>,
  instance: () => Freezing | null,
): FreezeBook {
  const byUser = new Map<UserId, Freezes>()

  function put(userId: UserId, freezes: readonly Freeze[]): void {
    if (freezes.length === 0) byUser.delete(userId)
    else byUser.set(userId, freezesOf(freezes))
  }

  const atStart = new Map<UserId, Freeze[]>()
  for (const freeze of stored) {
    atStart.set(freeze.userId, [...(atStart.get(freeze.userId) ?? []), freeze])
  }
  for (const [userId, freezes] of atStart) put(userId, freezes)

  function of(userId: UserId): Freezes | null {
    const whole = instance()
    if (whole === null) return byUser.size === 0 ? null : (byUser.get(userId) ?? null)
    return { ...(byUser.get(userId) ?? NOTHING), instance: whole }
  }

  return {
    of,
    freezeOf(key) {
      const freezes = of(key.userId)
      return freezes === null ? null : freezeOf(freezes, key)
    },
    counts() {
      const all = { instance: instance() === null ? 0 : 1, user: 0, wallet: 0, key: 0 }
      for (const { user, wallets, lineages } of byUser.values()) {
        if (user !== null) all.user++
        all.wallet += wallets.size
        all.key += lineages.size
      }
      return all
    },
    put,
  }
}

const NOTHING: Freezes = { instance: null, user: null, wallets: new Map(), lineages: new Map() }

function freezesOf(freezes: readonly Freeze[]): Freezes {
  const wallets = new Map<SubWalletId, Freezing>()
  const lineages = new Map<LineageId, Freezing>()
  let user: Freezing | null = null
  for (const freeze of freezes) {
    if (freeze.lineageId !== null) lineages.set(freeze.lineageId, freeze)
    else if (freeze.subWalletId !== null) wallets.set(freeze.subWalletId, freeze)
    else user = freeze
  }
  return { instance: null, user, wallets, lineages }
}
