import type { GrantStatement } from '../../custody/authorizers/grant-statement.js'
import { commonTerms, enlargements, type GrantTerms } from '../../domain/grant-terms.js'
import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import { sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import type { PolicyReplay } from './policy-replay.js'

/** What the user side's log so far makes of keys and their grants. */
export interface GrantReplay {
  /** Whether a key made it: then nobody had to confirm it. */
  isFirstOfSubKey(statement: GrantStatement): boolean
  /** What it gives that a grant above it did not then; wire names. */
  beyondParents(statement: GrantStatement, timeMs: number): string[]
  /** The same rule by which both domains ask for a proof. */
  isEnlarged(statement: GrantStatement): boolean
  granted(statement: GrantStatement, enlarges: boolean, timeMs: number): void
}

interface KnownKey {
  readonly expiresAtMs: number | null
  readonly proofKeyDigest: Uint8Array | null
  /** Of a key with a successor: what it may do at most. */
  readonly ceiling: GrantTerms | null
}

export function createGrantReplay(policies: Pick<PolicyReplay, 'granted'>): GrantReplay {
  const termsByGrant = new Map<string, GrantTerms>()
  const keys = new Map<string, KnownKey>()
  /** By grant: that of the key which made it. */
  const parents = new Map<string, string>()
  /** By grant: its keys that are not revoked, the oldest first. */
  const liveKeys = new Map<string, readonly string[]>()

  /** When the last of its keys ends; null: never. */
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
    // As the user side puts it: a key with an end has a successor, whose the lineage's grant is, or
    // is the last of its lineage, which a key made.
    const ofKeyAlone = known !== undefined && expiresAtMs !== null && !enlarges && !isHead
    const ceiling = revoked ? (known?.ceiling ?? null) : ofKeyAlone ? statement : null
    keys.set(name, { expiresAtMs, proofKeyDigest, ceiling })
    // A revocation ends the key; the other keys of its lineage keep what they have.
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
        if (terms === undefined || depth > SUB_KEY_DEPTH_MAX) return ['a maker that is not known']
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
