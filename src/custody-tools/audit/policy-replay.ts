import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import type { Policy } from '../../policy/policy.js'
import { viewOf } from '../../quorum-protocol/bytes.js'

/**
 * Replays policies from the identity provider's log: which policies bound which keys' calls, and
 * when.
 */
export interface PolicyReplay {
  /**
   * Records a change. Call it in the order of the log.
   * @param bound what binds the key from then on
   */
  granted(of: GrantVersion, bound: Bound, atMs: number): void
  /** Returns the policies that bound a key's calls under a version of its grant. */
  policiesOf(keyId: Uint8Array, grantId: Uint8Array, version: number): readonly Policy[]
  /** Returns the grants above one, nearest first. */
  ancestorsOf(grantId: Uint8Array): readonly AncestorAt[]
}

interface GrantVersion {
  readonly keyId: Uint8Array
  readonly grantId: Uint8Array
  readonly version: number
}

interface Bound {
  /** The grant of the key that made it. */
  readonly parentId: Uint8Array | null
  /** The policy of all keys of the grant. */
  readonly shared: Policy | null
  /** The policy of this key only, once it has a successor. */
  readonly own: Policy | null
}

/** A grant above another one. */
interface AncestorAt {
  readonly grantId: Uint8Array
  /**
   * Returns the policies that bound its calls at about that time: the one in force, and one that
   * replaced it right after.
   */
  policiesAt(timeMs: number): readonly (Policy | null)[]
}

interface DatedPolicy {
  readonly timeMs: number
  readonly policy: Policy | null
}

interface PoliciesInForce {
  readonly shared: Policy | null
  /** The policies of keys with a successor, indexed by key in hex. */
  readonly own: ReadonlyMap<string, Policy>
}

/** A change of a grant is in force at once, and recorded with the next flush. */
const RECORDED_WITHIN_MS = 5_000

export function createPolicyReplay(): PolicyReplay {
  /** The grant of the key that made each grant. */
  const parents = new Map<string, string>()
  /** Each policy that bound a grant's keys, with the time from which it did. */
  const sharedByGrant = new Map<string, DatedPolicy[]>()
  /** The policies of keys with a successor, indexed by grant and key. */
  const ownByGrant = new Map<string, ReadonlyMap<string, Policy>>()
  /** The versions under which any calls were bound, indexed by `grantVersionName`. */
  const inForce = new Map<string, PoliciesInForce>()

  return {
    granted({ keyId, grantId, version }, { parentId, shared, own }, timeMs) {
      const [key, grant] = [hex(keyId), hex(grantId)]
      if (parentId !== null) parents.set(grant, hex(parentId))
      const dated = sharedByGrant.get(grant) ?? []
      if (dated.at(-1)?.policy !== shared) dated.push({ timeMs, policy: shared })
      sharedByGrant.set(grant, dated)
      const ofKeys = new Map(ownByGrant.get(grant))
      if (own === null) ofKeys.delete(key)
      else ofKeys.set(key, own)
      ownByGrant.set(grant, ofKeys)
      if (shared !== null || ofKeys.size > 0) {
        inForce.set(grantVersionName(grantId, version), { shared, own: ofKeys })
      }
    },
    policiesOf(keyId, grantId, version) {
      const found = inForce.get(grantVersionName(grantId, version))
      return [found?.shared ?? [], found?.own.get(hex(keyId)) ?? []].flat()
    },
    ancestorsOf(grantId) {
      const found: AncestorAt[] = []
      let above = parents.get(hex(grantId))
      for (; above !== undefined && found.length <= SUB_KEY_DEPTH_MAX; above = parents.get(above)) {
        const policies = sharedByGrant.get(above) ?? []
        found.push({
          grantId: Buffer.from(above, 'hex'),
          policiesAt: (timeMs) => inForceAbout(policies, timeMs),
        })
      }
      return found
    },
  }
}

export function grantVersionName(grantId: Uint8Array, version: number): string {
  return `${hex(grantId)}:${version}`
}

function inForceAbout(policies: readonly DatedPolicy[], timeMs: number): (Policy | null)[] {
  const soFar = policies.filter((one) => one.timeMs <= timeMs + RECORDED_WITHIN_MS)
  const last = soFar.filter((one) => one.timeMs <= timeMs).at(-1)
  const since = last === undefined ? soFar : soFar.slice(soFar.indexOf(last))
  return since.map(({ policy }) => policy)
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
