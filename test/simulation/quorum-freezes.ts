import { ulidBytes } from '../../src/domain/ids.js'
import { Frozen, type UserSideFreezes } from '../../src/identity-provider/vault/freezes.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { FrozenSubject } from '../../src/service-custody/co-signer.js'

/** What is frozen, as the user side has it. */
export class QuorumFreezes
  implements Pick<UserSideFreezes, 'requireThawed' | 'requireInstanceThawed'>
{
  /** Since when, by name. */
  readonly #frozen = new Map<string, number>()
  /** By name: counts freezes and liftings. */
  readonly #sequences = new Map<string, number>()

  freeze(subject: FrozenSubject, nowMs: number): void {
    const name = nameOfSubject(subject)
    if (!this.#frozen.has(name)) this.#frozen.set(name, nowMs)
    this.#count(name)
  }

  sequenceOf(subject: FrozenSubject): number {
    return this.#sequences.get(nameOfSubject(subject)) ?? 0
  }

  has(subject: FrozenSubject): boolean {
    return this.#frozen.has(nameOfSubject(subject))
  }

  unfreeze(subject: FrozenSubject): void {
    const name = nameOfSubject(subject)
    this.#frozen.delete(name)
    this.#count(name)
  }

  requireThawed(ownerHash: Uint8Array, walletId: Uint8Array, grantId: Uint8Array | null): void {
    this.#require('user', ownerHash)
    this.#require('wallet', walletId)
    if (grantId !== null) this.#require('key', grantId)
  }

  /** Nobody freezes the whole of it. */
  requireInstanceThawed(): void {}

  #count(name: string): void {
    this.#sequences.set(name, (this.#sequences.get(name) ?? 0) + 1)
  }

  #require(scope: FrozenSubject['scope'], subject: Uint8Array): void {
    const sinceMs = this.#frozen.get(nameOf(scope, subject))
    if (sinceMs !== undefined) throw new Frozen(scope, sinceMs)
  }
}

function nameOfSubject({ scope, userId, walletId, lineageId }: FrozenSubject): string {
  const id = scope === 'wallet' ? walletId : lineageId
  return nameOf(scope, id === null ? sha256(Buffer.from(userId)) : ulidBytes(id))
}

function nameOf(scope: FrozenSubject['scope'], subject: Uint8Array): string {
  return `${scope} ${Buffer.from(subject).toString('hex')}`
}
