import type { KeyId, LineageId, SubWalletId, UserId } from './ids.js'

/**
 * What is frozen signs nothing new: no call of it, sent or sponsored, gets a signature. A key is
 * frozen with its whole lineage, or a rotation would lift it. Reads go on, and so do replacements
 * of what is signed already.
 */
export type FreezeScope = 'user' | 'wallet' | 'key'

export type FrozenBy = 'user' | 'breaker' | 'operator'

/** What all freezes have, the whole instance's too. */
export interface Freezing {
  readonly scope: FreezeScope | 'instance'
  readonly sinceMs: number
  readonly reason: string | null
  readonly by: FrozenBy
}

/** Of one user's things. */
export interface Freeze extends Freezing {
  readonly scope: FreezeScope
  /** Names it among its user's; see `freezeName`. */
  readonly name: string
  readonly userId: UserId
  /** Null for a user's. */
  readonly subWalletId: SubWalletId | null
  /** Null but for a key's. */
  readonly lineageId: LineageId | null
  /** The key that was named; null but for a key's. */
  readonly keyId: KeyId | null
  /** Whether the identity provider has acknowledged it. */
  readonly custody: 'pending' | 'current'
}

/** All of one user's, for whoever asks at each call. */
export interface Freezes {
  readonly instance: Freezing | null
  readonly user: Freezing | null
  readonly wallets: ReadonlyMap<SubWalletId, Freezing>
  readonly lineages: ReadonlyMap<LineageId, Freezing>
}

/** @param id of the sub-wallet, or of the key's lineage; null for a user's */
export function freezeName(scope: FreezeScope, id: SubWalletId | LineageId | null): string {
  return id === null ? scope : `${scope}:${id}`
}

/** The widest of those that stop a call of this key; null: none does. */
export function freezeOf(
  { instance, user, wallets, lineages }: Freezes,
  of: { readonly subWalletId: SubWalletId; readonly lineageId: LineageId },
): Freezing | null {
  return instance ?? user ?? wallets.get(of.subWalletId) ?? lineages.get(of.lineageId) ?? null
}
