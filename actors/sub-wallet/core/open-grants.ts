import type { GrantChange } from '../../../src/domain/grant-change.js'
import type { KeyId, LineageId } from '../../../src/domain/ids.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { ClaimGrant, GrantEvent } from './grant-messages.js'

/**
 * Changes that the identity provider has not acknowledged. The changes are durable. Volatile are
 * the notifications under way and the callers that wait; after a restart it is notified of the
 * present form of every stored change.
 */
export interface OpenGrants {
  readonly byKey: Map<KeyId, OpenGrant>
  /** The highest version given out. */
  lastVersion: number
  /** The key whose change is being sent; null between notifications. */
  sending: KeyId | null
  /** True during the backoff after a failed attempt. */
  resting: boolean
  /** Claims that wait for their lineage to have no open change, oldest first. */
  readonly claims: WaitingClaim[]
}

export interface OpenGrant {
  change: GrantChange
  /** Set while the front end calls the identity provider about it. */
  claimId: string | null
  /** The version at the time of the claim: a later one means that the key has changed since. */
  claimedVersion: number
  /** True once anything in the lineage changed under the claim. */
  disturbed: boolean
  /** The number of failed attempts in a row. */
  failures: number
  readonly waiting: ReplyToken[]
}

interface WaitingClaim {
  readonly command: ClaimGrant
  readonly lineageId: LineageId
  readonly token: ReplyToken
}

export function noOpenGrants(): OpenGrants {
  return { byKey: new Map(), lastVersion: 0, sending: null, resting: false, claims: [] }
}

export function evolveGrants(grants: OpenGrants, event: GrantEvent): void {
  switch (event.type) {
    case 'grant-opened':
      openGrant(grants, event.change, event.claimId)
      return
    case 'grant-closed':
      grants.byKey.delete(event.keyId)
      return
    case 'grant-released':
      grantOf(grants, event.keyId).claimId = null
      return
    case 'grant-sending':
      grants.sending = event.keyId
      return
    case 'grant-sent': {
      grants.sending = null
      const open = grants.byKey.get(event.keyId)
      if (open !== undefined) open.failures = event.taken ? 0 : open.failures + 1
      return
    }
    case 'grants-resting':
      grants.resting = event.on
      return
  }
}

/**
 * @param claimId the claim of the front end that calls the identity provider; null when there is no
 * claim
 */
export function openGrant(grants: OpenGrants, change: GrantChange, claimId: string | null): void {
  const { keyId, lineageId, version } = change
  grants.lastVersion = Math.max(grants.lastVersion, version)
  for (const other of grants.byKey.values()) {
    if (other.change.lineageId === lineageId && other.claimId !== null) other.disturbed = true
  }
  const known = grants.byKey.get(keyId)
  if (known !== undefined) {
    known.change = change
    return
  }
  grants.byKey.set(keyId, {
    change,
    claimId,
    claimedVersion: version,
    disturbed: false,
    failures: 0,
    waiting: [],
  })
}

function grantOf(grants: OpenGrants, keyId: KeyId): OpenGrant {
  const open = grants.byKey.get(keyId)
  if (open === undefined) throw new Error(`${keyId} has no open grant`)
  return open
}
