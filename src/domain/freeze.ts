import type { KeyId, LineageId, SubWalletId, UserId } from './ids.js'

/**
 * A frozen subject signs nothing new: no call of it, sent or sponsored, gets a signature. A key is
 * frozen with its whole lineage, because a rotation would otherwise lift the freeze. Reads
 * continue, and so do replacements of signed transactions.
 */
export type FreezeScope = 'user' | 'wallet' | 'key'

export type FrozenBy = 'user' | 'breaker' | 'operator'

/** The fields of every freeze, including the whole instance's. */
export interface Freezing {
  readonly scope: FreezeScope | 'instance'
  readonly sinceMs: number
  readonly reason: string | null
  readonly by: FrozenBy
}

/** A freeze of a user, of a wallet or of a key. */
export interface Freeze extends Freezing {
  readonly scope: FreezeScope
  /** Names it among the user's freezes; see `freezeName`. */
  readonly name: string
  readonly userId: UserId
  /** Null when the user is frozen. */
  readonly subWalletId: SubWalletId | null
  /** Null unless a key is frozen. */
  readonly lineageId: LineageId | null
  /** The key that was named; null unless a key is frozen. */
  readonly keyId: KeyId | null
  /** Whether the identity provider has acknowledged it. */
  readonly custody: 'pending' | 'current'
}

/** All freezes that concern one user, read at each call. */
export interface Freezes {
  readonly instance: Freezing | null
  readonly user: Freezing | null
  readonly wallets: ReadonlyMap<SubWalletId, Freezing>
  readonly lineages: ReadonlyMap<LineageId, Freezing>
}

/** @param id of the sub-wallet or of the key's lineage; null for a user's freeze */
export function freezeName(scope: FreezeScope, id: SubWalletId | LineageId | null): string {
  return id === null ? scope : `${scope}:${id}`
}

/** The widest freeze that stops a call of this key, or null. */
export function freezeOf(
  { instance, user, wallets, lineages }: Freezes,
  of: { readonly subWalletId: SubWalletId; readonly lineageId: LineageId },
): Freezing | null {
  return instance ?? user ?? wallets.get(of.subWalletId) ?? lineages.get(of.lineageId) ?? null
}
