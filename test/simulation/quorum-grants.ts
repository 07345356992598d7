import type { ApiKey } from '../../src/domain/api-key.js'
import { enlargements, type GrantTerms, grantedOf } from '../../src/domain/grant-terms.js'
import {
  ID_PREFIX,
  type KeyId,
  type LineageId,
  type SubWalletId,
  type UserId,
  ulidBytes,
  ulidOfBytes,
} from '../../src/domain/ids.js'
import type { GrantedPolicy } from '../../src/domain/key-policy.js'
import { partitionOf } from '../../src/domain/partition.js'
import { ancestorsOf } from '../../src/identity-provider/vault/ancestors.js'
import type { Grant, GrantedKey } from '../../src/identity-provider/vault/granted.js'
import type { PathView } from '../../src/identity-provider/vault/sub-key-rules.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import type { GrantOutcome, GrantUpdate } from '../../src/service-custody/co-signer.js'

/** What the keys of one lineage may do, as the user side has it. */
export interface LineageGrant {
  readonly lineageId: LineageId
  readonly walletId: SubWalletId
  readonly userId: string
  /** Counts changes; a revocation is none. */
  readonly version: number
  readonly parentId: LineageId | null
  readonly terms: GrantedPolicy
  readonly liveKeys: readonly KeyId[]
}

interface KeyRow {
  readonly lineageId: LineageId
  readonly proofKey: Uint8Array | null
  readonly expiresAtMs: number | null
  readonly isRevoked: boolean
  /** Of one with a successor: what it may do at most. */
  readonly ceiling: GrantedPolicy | null
}

/** A key that may have something signed, with what binds it, its own lineage first. */
export interface LiveGrant {
  readonly key: KeyRow
  readonly path: readonly LineageGrant[]
}

/**
 * Which key may have what signed, as the user side keeps it. Who may change it follows the rules of
 * `identity-provider/vault/grants.ts`; a console token stands for what its user confirms.
 */
export class QuorumGrants {
  readonly #lineages = new Map<LineageId, LineageGrant>()
  readonly #keys = new Map<KeyId, KeyRow>()

  /** A key of the user's that was there before the run. */
  introduce(key: ApiKey, proofKey: Uint8Array): void {
    const { keyId, lineageId, subWalletId: walletId, userId } = key
    const terms = grantedOf(key)
    this.#lineages.set(lineageId, {
      ...{ lineageId, walletId, userId, version: 1, parentId: null, terms, liveKeys: [keyId] },
    })
    const row = { lineageId, proofKey, expiresAtMs: null, isRevoked: false, ceiling: null }
    this.#keys.set(keyId, row)
  }

  /** Of a key that was ever granted anything; ids of lineages are those of their first keys. */
  lineageOf(keyId: KeyId): LineageId | null {
    return this.#keys.get(keyId)?.lineageId ?? null
  }

  proofKeyOf(keyId: KeyId): Uint8Array | null {
    return this.#keys.get(keyId)?.proofKey ?? null
  }

  /** Which version of its grant a change is for; 0: of none yet. */
  versionFor({ keyId, rotatedFrom }: Pick<GrantUpdate, 'keyId' | 'rotatedFrom'>): number {
    const of = this.#keys.get(keyId) ?? (rotatedFrom === null ? null : this.#keys.get(rotatedFrom))
    return of == null ? 0 : this.#lineage(of.lineageId).version
  }

  pathOf(lineageId: LineageId): readonly LineageGrant[] {
    const path: LineageGrant[] = []
    for (let at: LineageId | null = lineageId; at !== null; ) {
      const grant: LineageGrant = this.#lineage(at)
      path.push(grant)
      at = grant.parentId
    }
    return path
  }

  /** @throws Refusal UNKNOWN_KEY or NOT_GRANTED */
  live(keyId: KeyId, walletId: SubWalletId, chainId: number, nowMs: number): LiveGrant {
    const key = this.#keys.get(keyId)
    if (key === undefined) throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
    const { isRevoked, expiresAtMs, ceiling } = key
    if (isRevoked || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
      throw new Refusal('NOT_GRANTED', 'it has ended')
    }
    const path = this.pathOf(key.lineageId)
    const mayAll = [...path.map(({ terms }) => terms), ...(ceiling === null ? [] : [ceiling])]
    const isWithin = mayAll.every(
      ({ permission, allowedChains }) =>
        permission === 'trade' && allowedChains.some((id) => id === chainId),
    )
    const areAlive = path.slice(1).every((above) => this.#isAlive(above, nowMs))
    if (path[0]?.walletId !== walletId || !isWithin || !areAlive) {
      throw new Refusal('NOT_GRANTED', 'outside its grant, or of a key that has ended')
    }
    return { key, path }
  }

  /** As the vault reads it when it judges a signature. */
  view(keyId: Uint8Array): PathView | null {
    const key = this.key(keyId)
    const grant = key === null ? null : this.grant(key.grantId)
    if (key === null || grant === null) return null
    const partition = partitionOf(grant.userId as UserId)
    return { key, grant, ancestors: ancestorsOf(this, grant), partition }
  }

  proofKey(keyId: Uint8Array): Uint8Array | null {
    return this.key(keyId)?.sealedProofKey ?? null
  }

  /** @throws Refusal UNKNOWN_KEY */
  referenceOf(keyId: Uint8Array): readonly [Uint8Array, number] {
    const view = this.view(keyId)
    if (view === null) throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
    return [view.key.grantId, view.grant.version]
  }

  key(keyId: Uint8Array): GrantedKey | null {
    const row = this.#keys.get(keyIdOf(keyId))
    if (row === undefined) return null
    const { lineageId, proofKey, expiresAtMs, isRevoked, ceiling } = row
    // Nothing is sealed here.
    const sealedProofKey = proofKey
    return {
      ...{ grantId: ulidBytes(lineageId), sealedProofKey, expiresAtMs },
      ...{ revoked: isRevoked, ceiling },
    }
  }

  grant(id: Uint8Array): Grant | null {
    const lineage = this.#lineages.get(keyIdOf(id) as string as LineageId)
    if (lineage === undefined) return null
    const { walletId, userId, version, parentId, terms, liveKeys } = lineage
    return {
      ...terms,
      ...{ walletId: ulidBytes(walletId), userId, version },
      parentId: parentId === null ? null : ulidBytes(parentId),
      liveKeys: liveKeys.map(ulidBytes),
    }
  }

  /** @throws Refusal */
  put(update: GrantUpdate, nowMs: number): GrantOutcome {
    const present = this.#keys.get(update.keyId)
    if (present !== undefined) return this.#change(update, present)
    if (update.rotatedFrom !== null) return this.#rotate(update, update.rotatedFrom)
    if (update.revoked) throw new Refusal('UNKNOWN_KEY', 'nothing to revoke')
    if (update.madeBy === undefined) requireUser(update)
    else this.#checkMade(update, update.madeBy, nowMs)
    this.#add(update, update.keyId as string as LineageId, update.parentLineageId ?? null)
    return { authorizedBy: update.madeBy === undefined ? 'software' : null }
  }

  #checkMade(
    update: GrantUpdate,
    { keyId, proofKey }: NonNullable<GrantUpdate['madeBy']>,
    nowMs: number,
  ): void {
    const [chainId = 0] = this.#granted(keyId)?.allowedChains ?? []
    const maker = this.live(keyId, update.walletId, chainId, nowMs)
    const held = maker.key.proofKey
    if (held === null || !isSame(held, proofKey))
      throw new Refusal('KEY_PROOF_MISSING', 'of its maker')
    if (update.parentLineageId !== maker.key.lineageId) throw new Refusal('NOT_GRANTED', 'parent')
    for (const { terms } of maker.path) {
      const wider = enlargements(
        { ...terms, expiresAtMs: null },
        { ...grantedOf(update), expiresAtMs: null },
      )
      if (!terms.mayDelegate || wider.length > 0) throw new Refusal('NOT_GRANTED', wider.join(' '))
    }
  }

  #rotate(update: GrantUpdate, from: KeyId): GrantOutcome {
    const old = this.#keys.get(from)
    if (old === undefined || (old.isRevoked && !update.revoked)) {
      throw new Refusal('UNKNOWN_KEY', 'key to rotate')
    }
    const grant = this.#lineage(old.lineageId)
    if (update.revoked) {
      const { lineageId } = old
      this.#keys.set(update.keyId, { ...old, lineageId, proofKey: null, isRevoked: true })
      return { authorizedBy: null }
    }
    requireUser(update)
    if (enlargements(this.#termsOf(old), termsOf(update)).length > 0) {
      throw new Refusal('NOT_GRANTED', 'a rotation cannot enlarge the grant')
    }
    const { proofKey, expiresAt: expiresAtMs } = update
    const { lineageId } = old
    this.#keys.set(update.keyId, {
      lineageId,
      proofKey,
      expiresAtMs,
      isRevoked: false,
      ceiling: null,
    })
    const liveKeys = [...grant.liveKeys, update.keyId]
    const version = grant.version + 1
    this.#lineages.set(lineageId, { ...grant, terms: grantedOf(update), version, liveKeys })
    return { authorizedBy: null }
  }

  #change(update: GrantUpdate, present: KeyRow): GrantOutcome {
    const { keyId, expiresAt: expiresAtMs, revoked } = update
    const grant = this.#lineage(present.lineageId)
    if (grant.walletId !== update.walletId) throw new Refusal('CONFLICT', 'of another wallet')
    if (revoked) {
      this.#keys.set(keyId, { ...present, isRevoked: true, proofKey: null, expiresAtMs })
      const liveKeys = grant.liveKeys.filter((id) => id !== keyId)
      this.#lineages.set(grant.lineageId, { ...grant, liveKeys })
      return { authorizedBy: null }
    }
    if (present.isRevoked) throw new Refusal('CONFLICT', 'key is revoked for good')
    const enlarges = enlargements(this.#termsOf(present), termsOf(update)).length > 0
    if (enlarges) {
      requireUser(update)
      for (const { terms } of this.pathOf(grant.lineageId).slice(1)) {
        const wider = enlargements(
          { ...terms, expiresAtMs: null },
          { ...grantedOf(update), expiresAtMs: null },
        )
        if (wider.length > 0) throw new Refusal('NOT_GRANTED', 'more than the key that made it has')
      }
    }
    const isHead = grant.liveKeys.at(-1) === keyId
    const isOfKeyAlone = expiresAtMs !== null && !enlarges && !isHead
    const ceiling = isOfKeyAlone ? grantedOf(update) : null
    const terms = isOfKeyAlone ? grant.terms : grantedOf(update)
    this.#lineages.set(grant.lineageId, { ...grant, terms, version: grant.version + 1 })
    this.#keys.set(keyId, { ...present, expiresAtMs, ceiling })
    return { authorizedBy: enlarges ? 'software' : null }
  }

  #add(update: GrantUpdate, lineageId: LineageId, parentId: LineageId | null): void {
    const { keyId, walletId, userId, proofKey, expiresAt: expiresAtMs } = update
    const terms = grantedOf(update)
    this.#lineages.set(lineageId, {
      ...{ lineageId, walletId, userId, version: 1, parentId, terms, liveKeys: [keyId] },
    })
    this.#keys.set(keyId, { lineageId, proofKey, expiresAtMs, isRevoked: false, ceiling: null })
  }

  #granted(keyId: KeyId): GrantedPolicy | null {
    const lineageId = this.lineageOf(keyId)
    return lineageId === null ? null : this.#lineage(lineageId).terms
  }

  #termsOf({ lineageId, expiresAtMs, ceiling }: KeyRow): GrantTerms {
    return { ...(ceiling ?? this.#lineage(lineageId).terms), expiresAtMs }
  }

  #isAlive({ liveKeys }: LineageGrant, nowMs: number): boolean {
    return liveKeys.some((keyId) => {
      const key = this.#keys.get(keyId)
      if (key === undefined || key.isRevoked) return false
      return key.expiresAtMs === null || key.expiresAtMs > nowMs
    })
  }

  #lineage(id: LineageId): LineageGrant {
    const found = this.#lineages.get(id)
    if (found === undefined) throw new Error(`${id} was granted nothing`)
    return found
  }
}

function keyIdOf(bytes: Uint8Array): KeyId {
  return `${ID_PREFIX.key}${ulidOfBytes(bytes)}` as KeyId
}

function termsOf(update: GrantUpdate): GrantTerms {
  return { ...grantedOf(update), expiresAtMs: update.expiresAt }
}

function requireUser({ consoleToken }: GrantUpdate): void {
  if (consoleToken === null) throw new Refusal('NOT_GRANTED', 'no user asked for it')
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
