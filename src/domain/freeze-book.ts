import { type Freeze, type Freezes, type Freezing, freezeOf } from './freeze.js'
import type { LineageId, SubWalletId, UserId } from './ids.js'

/**
 * What is frozen now, as one thread knows it. In memory: a row for each freeze in
 * force, which the store has too. Asked at every call that moves value, so that it must cost
 * next to nothing while nothing is frozen.
 */
export interface FreezeBook {
  /** Null: nothing of the user's is frozen, nor the instance. */
  of(userId: UserId): Freezes | null
  /** What stops calls of a key now; null: nothing. */
  freezeOf(of: {
    readonly userId: UserId
    readonly subWalletId: SubWalletId
    readonly lineageId: LineageId
  }): Freezing | null
  /** How many are in force, by scope. */
  counts(): Readonly<Record<Freezing['scope'], number>>
  /** Takes the place of all that the user had. */
  put(userId: UserId, freezes: readonly Freeze[]): void
}

/**
 * @param stored all in force at a start
 * @param instance what the operator said of the whole instance, asked at each call
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
