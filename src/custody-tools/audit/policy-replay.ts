import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import type { Policy } from '../../policy/policy.js'
import { viewOf } from '../../quorum-protocol/bytes.js'

/** What the user side's log says of policies: which bound the calls of which keys, and since when. */
export interface PolicyReplay {
  /**
   * To be told in the order of the log.
   * @param bound what binds the key from then on
   */
  granted(of: GrantVersion, bound: Bound, atMs: number): void
  /** What bound the calls of a key under a version of its grant. */
  policiesOf(keyId: Uint8Array, grantId: Uint8Array, version: number): readonly Policy[]
  /** The grants above one, nearest first. */
  ancestorsOf(grantId: Uint8Array): readonly AncestorAt[]
}

export interface GrantVersion {
  readonly keyId: Uint8Array
  readonly grantId: Uint8Array
  readonly version: number
}

export interface Bound {
  /** The grant of the key that made it. */
  readonly parentId: Uint8Array | null
  /** Of all keys of the grant. */
  readonly shared: Policy | null
  /** Of this key alone, once it has a successor. */
  readonly own: Policy | null
}

/** A grant above another. */
export interface AncestorAt {
  readonly grantId: Uint8Array
  /** What bound its calls about then: the one in force, and what took its place right after. */
  policiesAt(timeMs: number): readonly (Policy | null)[]
}

interface DatedPolicy {
  readonly timeMs: number
  readonly policy: Policy | null
}

interface PoliciesInForce {
  readonly shared: Policy | null
  /** By key in hex: of those with a successor. */
  readonly own: ReadonlyMap<string, Policy>
}

/** A change of a grant holds from the moment that it is taken, and is recorded with the next flush. */
const RECORDED_WITHIN_MS = 5_000

export function createPolicyReplay(): PolicyReplay {
  /** By grant: that of the key which made it. */
  const parents = new Map<string, string>()
  /** By grant: each policy that its keys were bound by, from when on. */
  const sharedByGrant = new Map<string, DatedPolicy[]>()
  /** By grant, and by key: of keys with a successor. */
  const ownByGrant = new Map<string, ReadonlyMap<string, Policy>>()
  /** By `grantVersionName`: of versions under which calls were bound at all. */
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
