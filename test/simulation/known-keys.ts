import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../src/domain/ids.js'
import type { Policy } from '../../src/policy/policy.js'

/** A key whose secret somebody holds. */
export interface KnownKey {
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly proofKey: Uint8Array
}

/** What its owner gave a line of keys. */
export interface KnownLineage {
  readonly lineageId: LineageId
  readonly subWalletId: SubWalletId
  readonly parentLineageId: LineageId | null
  readonly policy: Policy | null
  /** The most that it ever was to have; micro-USD. */
  capMicros: bigint
}

/** Keys as people and agents know them, who made which, and what was said of them. */
export class KnownKeys {
  readonly keys: KnownKey[] = []
  readonly lineages = new Map<LineageId, KnownLineage>()
  /** What its owner was told to be so, by the name of key, lineage or freeze. */
  readonly #forbidden = new Map<string, string>()

  add(key: ApiKey, proofKey: Uint8Array, parentLineageId: LineageId | null = null): void {
    const { keyId, lineageId, subWalletId, userId, policy } = key
    this.keys.push({ keyId, lineageId, subWalletId, userId, proofKey })
    if (this.lineages.has(lineageId)) return
    const capMicros = key.dailyLimitMicros ?? 0n
    this.lineages.set(lineageId, { lineageId, subWalletId, parentLineageId, policy, capMicros })
  }

  noteCap(lineageId: LineageId, micros: bigint): void {
    const lineage = this.lineages.get(lineageId)
    if (lineage !== undefined && micros > lineage.capMicros) lineage.capMicros = micros
  }

  forbid(name: string, why: string): void {
    this.#forbidden.set(name, why)
  }

  allow(name: string): void {
    this.#forbidden.delete(name)
  }

  /** Itself, and all above it. */
  pathOf(lineageId: LineageId): KnownLineage[] {
    const path: KnownLineage[] = []
    let at = this.lineages.get(lineageId)
    while (at !== undefined) {
      path.push(at)
      at = at.parentLineageId === null ? undefined : this.lineages.get(at.parentLineageId)
    }
    return path
  }

  countsOn(lineageId: LineageId, above: LineageId): boolean {
    return this.pathOf(lineageId).some((one) => one.lineageId === above)
  }

  isRevoked({ keyId, lineageId }: KnownKey): boolean {
    const path = this.pathOf(lineageId).map((above) => `lineage:${above.lineageId}`)
    return [keyId, ...path].some((name) => this.#forbidden.get(name) === 'revoked')
  }

  whyForbidden({ keyId, lineageId, subWalletId, userId }: KnownKey): string | null {
    const names = [`user:${userId}`, `wallet:${subWalletId}`, keyId]
    for (const above of this.pathOf(lineageId)) {
      names.push(`key:${above.lineageId}`, `lineage:${above.lineageId}`)
    }
    return names.map((name) => this.#forbidden.get(name)).find((why) => why !== undefined) ?? null
  }
}
