import type { GrantStatement } from '../../custody/authorizers/grant-statement.js'
import { commonTerms, enlargements, type GrantTerms } from '../../domain/grant-terms.js'
import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import { sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import type { PolicyReplay } from './policy-replay.js'

/** Replays keys and their grants from the identity provider's log. */
export interface GrantReplay {
  /** Tells whether a key made it: then nobody had to confirm it. */
  isFirstOfSubKey(statement: GrantStatement): boolean
  /** Lists, in wire names, what it grants beyond a grant above it at that time. */
  beyondParents(statement: GrantStatement, timeMs: number): string[]
  /** Applies the rule by which both domains require a proof. */
  isEnlarged(statement: GrantStatement): boolean
  granted(statement: GrantStatement, enlarges: boolean, timeMs: number): void
}

interface KnownKey {
  readonly expiresAtMs: number | null
  readonly proofKeyDigest: Uint8Array | null
  /** The most that a key with a successor may do. */
  readonly ceiling: GrantTerms | null
}

export function createGrantReplay(policies: Pick<PolicyReplay, 'granted'>): GrantReplay {
  const termsByGrant = new Map<string, GrantTerms>()
  const keys = new Map<string, KnownKey>()
  /** The grant of the key that made each grant. */
  const parents = new Map<string, string>()
  /** Each grant's keys that are not revoked, oldest first. */
  const liveKeys = new Map<string, readonly string[]>()

  /** Returns when the last of its keys ends; null for never. */
  function endOf(grant: string): number | null {
    const ends = (liveKeys.get(grant) ?? []).map((name) => keys.get(name)?.expiresAtMs ?? null)
    return ends.some((end) => end === null) ? null : Math.max(0, ...ends.map(Number))
  }

  function remember(statement: GrantStatement, enlarges: boolean): void {
    const name = hex(statement.keyId)
    const grant = hex(statement.grantId)
    if (statement.parentId !== null) parents.set(grant, hex(statement.parentId))
    const before = liveKeys.get(grant) ?? []
    const isHead = before.at(-1) === name
    if (statement.revoked) {
      liveKeys.set(
        grant,
        before.filter((one) => one !== name),
      )
    } else if (!before.includes(name)) liveKeys.set(grant, [...before, name])
    const { expiresAtMs, revoked } = statement
    const known = keys.get(name)
    const proofKeyDigest = statement.proofKeyDigest ?? known?.proofKeyDigest ?? null
    // As at the identity provider: a key with an end has a successor, to which the lineage's
    // grant // belongs, or a key made it and it is the last of its lineage.
    const ofKeyAlone = known !== undefined && expiresAtMs !== null && !enlarges && !isHead
    const ceiling = revoked ? (known?.ceiling ?? null) : ofKeyAlone ? statement : null
    keys.set(name, { expiresAtMs, proofKeyDigest, ceiling })
    // A revocation ends the key; the other keys of its lineage keep their rights.
    if (!revoked && !ofKeyAlone) termsByGrant.set(grant, statement)
  }

  function rememberPolicies(statement: GrantStatement, timeMs: number): void {
    const bound = {
      parentId: statement.parentId,
      shared: termsByGrant.get(hex(statement.grantId))?.policy ?? null,
      own: keys.get(hex(statement.keyId))?.ceiling?.policy ?? null,
    }
    policies.granted(statement, bound, timeMs)
  }

  return {
    isFirstOfSubKey({ parentId, rotatedFrom, revoked, keyId }) {
      return parentId !== null && rotatedFrom === null && !revoked && !keys.has(hex(keyId))
    },
    beyondParents(statement, timeMs) {
      const { parentId } = statement
      const found: string[] = []
      let above = parentId === null ? undefined : hex(parentId)
      for (let depth = 1; above !== undefined; depth++) {
        const terms = termsByGrant.get(above)
        if (terms === undefined || depth > SUB_KEY_DEPTH_MAX) return ['an unknown maker']
        const expiresAtMs = endOf(above)
        if (!terms.mayDelegate || terms.permission !== 'trade') found.push('may_delegate')
        if (expiresAtMs !== null && expiresAtMs <= timeMs) found.push('expires_at')
        found.push(...enlargements({ ...terms, expiresAtMs }, statement))
        above = parents.get(above)
      }
      return found
    },
    isEnlarged(statement) {
      if (statement.revoked) return false
      const base = keys.get(hex(statement.rotatedFrom ?? statement.keyId))
      const terms = termsByGrant.get(hex(statement.grantId))
      if (base === undefined || terms === undefined) return true
      const { expiresAtMs, proofKeyDigest, ceiling } = base
      const newProof =
        statement.rotatedFrom === null &&
        statement.proofKeyDigest !== null &&
        (proofKeyDigest === null || !sameBytes(proofKeyDigest, statement.proofKeyDigest))
      const shared = { ...terms, expiresAtMs }
      const before = ceiling === null ? shared : commonTerms(shared, { ...ceiling, expiresAtMs })
      return newProof || enlargements(before, statement).length > 0
    },
    granted(statement, enlarges, timeMs) {
      remember(statement, enlarges)
      if (!statement.revoked) rememberPolicies(statement, timeMs)
    },
  }
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
