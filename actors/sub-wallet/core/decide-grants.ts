import { keyStatus } from '../../../src/domain/api-key.js'
import { narrowedTo } from '../../../src/domain/grant-terms.js'
import type { KeyId, LineageId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { narrowPredecessors, openChange, putKey } from './change-key.js'
import { widerThan } from './decide-sub-keys.js'
import type {
  ClaimAnswer,
  Claimed,
  ClaimGrant,
  GrantAnswer,
  GrantCommand,
  Outdated,
} from './grant-messages.js'
import { ancestorsOf } from './key-tree.js'
import type { OpenGrant } from './open-grants.js'
import type { Turn } from './turn.js'

type Of<T extends GrantCommand['type']> = Extract<GrantCommand, { type: T }>

/** The most claims of one sub-wallet that wait; a person makes one at a time. */
const CLAIMS_WAITING_MAX = 100
/** The most callers that wait for the acknowledgement of one key. */
const AWAITING_MAX = 100

/**
 * The backoff after a failed attempt: it starts small and stays within seconds of the identity
 * provider's return.
 */
const REST_MS_MIN = 250
const REST_MS_MAX = 5_000

export const OUTDATED: Outdated = { outdated: true }

/**
 * Only one side at a time notifies the identity provider about a lineage: the front end, which
 * holds a claim while the user confirms an enlargement or a rotation, or this actor, which repeats
 * what a key may do until it is acknowledged. The last notification therefore carries the last
 * decision.
 */
export function claimGrant(turn: Turn, command: ClaimGrant, token: ReplyToken | null): void {
  if (token === null) return
  const lineageId = lineageOf(turn, command.of)
  if (lineageId === null) {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  const { claims } = turn.state.grants
  if (claims.length >= CLAIMS_WAITING_MAX) {
    turn.refuse(token, fault('OVERLOADED', { changes_waiting_max: CLAIMS_WAITING_MAX }))
    return
  }
  claims.push({ command, lineageId, token })
  serveClaims(turn)
  tellNext(turn, 'now')
}

export function endClaim(turn: Turn, command: Of<'end-claim'>): void {
  const { claimId, of, taken, nowMs } = command
  const { claims } = turn.state.grants
  const at = claims.findIndex(({ command }) => command.claimId === claimId)
  if (at >= 0) claims.splice(at, 1)
  const open = claimed(turn, claimId)
  if (open === null) {
    // The actor was rebuilt in the meantime, and its notification may have arrived first.
    if (at < 0 && taken === 'unknown') giveUp(turn, of, nowMs)
  } else if (taken === 'unknown') giveUp(turn, of, nowMs)
  else if (open.change.version === open.claimedVersion) close(turn, open)
  else {
    // Changes made during the claim have to be sent; the requested change was not accepted.
    const { keyId, lineageId, rotatedFrom } = open.change
    openChange(turn, { keyId, rotatedFrom, patch: null }, lineageId, null)
    turn.emit({ type: 'grant-released', keyId })
  }
  serveClaims(turn)
  tellNext(turn, 'now')
}

/**
 * Ends a claim with the commit of what the identity provider accepted.
 * @returns false when the lineage changed during the claim; the caller then commits nothing, and
 * the identity provider is notified of what the key may do
 */
export function useClaim(turn: Turn, claimId: string, of: Claimed, nowMs: number): boolean {
  const open = claimed(turn, claimId)
  if (open === null || open.disturbed) {
    giveUp(turn, of, nowMs)
    return false
  }
  close(turn, open)
  return true
}

/**
 * Resumes after a restart: the identity provider may have accepted a change that was pending when
 * the process ended.
 */
export function resumeGrants(turn: Turn, nowMs: number): void {
  for (const { change, claimId } of [...turn.state.grants.byKey.values()]) {
    const { keyId, rotatedFrom, asked } = change
    if (claimId === null && asked !== null) {
      giveUp(turn, { keyId, rotatedFrom, patch: asked }, nowMs)
    }
  }
  advanceGrants(turn)
}

/** Advances claims and notifications. Call it after the command's other events. */
export function advanceGrants(turn: Turn): void {
  serveClaims(turn)
  tellNext(turn, 'now')
}

export function awaitGrant(
  turn: Turn,
  { keyId }: Of<'await-grant'>,
  token: ReplyToken | null,
): void {
  if (token === null) return
  const open = turn.state.grants.byKey.get(keyId)
  if (open === undefined) turn.answer(token, { custody: 'current' } satisfies GrantAnswer)
  else if (open.claimId !== null || open.waiting.length >= AWAITING_MAX) {
    turn.answer(token, { custody: 'pending' } satisfies GrantAnswer)
  } else {
    open.waiting.push(token)
    tellNext(turn, 'now')
  }
}

export function grantAnswered(turn: Turn, answer: Of<'grant-answered'>): void {
  const { keyId, version, taken } = answer
  const open = turn.state.grants.byKey.get(keyId)
  turn.emit({ type: 'grant-sent', keyId, taken })
  if (open !== undefined) {
    const settled = taken && open.change.version === version
    if (settled) close(turn, open)
    if (settled || !taken) answerWaiting(turn, open, settled ? 'current' : 'pending')
    if (!taken) rest(turn, open)
  }
  serveClaims(turn)
  tellNext(turn, 'when-rested')
}

export function grantsRested(turn: Turn): void {
  if (turn.state.grants.resting) turn.emit({ type: 'grants-resting', on: false })
  tellNext(turn, 'when-rested')
}

function rest(turn: Turn, { change, failures }: OpenGrant): void {
  const { grants } = turn.state
  // An enlargement that waits needs the identity provider too, and its caller can retry.
  for (const { token } of grants.claims.filter((it) => it.lineageId === change.lineageId)) {
    turn.refuse(token, fault('COSIGNER_UNAVAILABLE'))
  }
  const others = grants.claims.filter((it) => it.lineageId !== change.lineageId)
  grants.claims.splice(0, grants.claims.length, ...others)
  if (grants.resting) return
  turn.emit({ type: 'grants-resting', on: true })
  const delayMs = Math.min(REST_MS_MIN * 2 ** Math.min(failures - 1, 10), REST_MS_MAX)
  turn.effect({ type: 'rest-grants', delayMs })
}

/** Grants each waiting claim whose lineage has no open change. */
function serveClaims(turn: Turn): void {
  const { claims } = turn.state.grants
  for (let i = 0; i < claims.length; ) {
    const waiting = claims[i]
    if (waiting === undefined || isOpen(turn, waiting.lineageId)) i++
    else {
      claims.splice(i, 1)
      grantClaim(turn, waiting.command, waiting.lineageId, waiting.token)
    }
  }
}

function grantClaim(
  turn: Turn,
  { claimId, of, nowMs }: ClaimGrant,
  lineageId: LineageId,
  token: ReplyToken,
): void {
  const key = turn.state.keys.get(of.rotatedFrom ?? of.keyId)
  const status = key === undefined ? 'revoked' : keyStatus(key, nowMs)
  if (key === undefined || (status === 'revoked' && of.rotatedFrom === null)) {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  if (status !== 'active') {
    const words =
      of.rotatedFrom === null
        ? 'A key with a successor can only be narrowed; enlarge its successor.'
        : 'Only an active key can be rotated; rotate its successor, or issue a new key.'
    turn.refuse(token, fault('INVALID_REQUEST', { status, key_id: key.keyId }, words))
    return
  }
  const above = ancestorsOf(turn.state, lineageId)
  const wide = of.patch === null ? null : widerThan({ ...key, ...of.patch }, above)
  if (wide !== null) {
    turn.refuse(token, wide)
    return
  }
  openChange(turn, of, lineageId, claimId)
  turn.answer(token, { key } satisfies ClaimAnswer)
}

/**
 * Notifies the identity provider of the change that failed least often, unless another notification
 * is under way or a claim holds the lineage.
 */
function tellNext(turn: Turn, when: 'now' | 'when-rested'): void {
  const { grants, keys, wallet } = turn.state
  if (grants.sending !== null || wallet === null) return
  if (grants.resting && when === 'when-rested') return
  let next: OpenGrant | null = null
  for (const open of grants.byKey.values()) {
    if (next !== null && next.failures <= open.failures) continue
    if (!isClaimed(turn, open.change.lineageId)) next = open
  }
  if (next === null) return
  const { change, failures } = next
  turn.emit({ type: 'grant-sending', keyId: change.keyId })
  turn.effect({ type: 'put-grant', change, wallet, key: keys.get(change.keyId) ?? null, failures })
}

/**
 * Gives up a change that the identity provider may have accepted and that is not committed here. It
 * is notified of what the key may do; because it accepts wider grants only from the user, the key
 * keeps the lesser of its former and its requested permissions.
 */
export function giveUp(turn: Turn, of: Claimed, nowMs: number): void {
  const lineageId = lineageOf(turn, of)
  if (lineageId === null) return
  const { keyId, rotatedFrom, patch } = of
  const key = turn.state.keys.get(keyId)
  if (key !== undefined && patch !== null && keyStatus(key, nowMs) !== 'revoked') {
    const left = narrowedTo(key, { ...key, ...patch })
    if (left !== key) putKey(turn, left, { change: 'patched', requestId: null, atMs: nowMs })
    narrowPredecessors(turn, left, { change: 'patched', requestId: null, atMs: nowMs })
  }
  openChange(turn, { keyId, rotatedFrom, patch: null }, lineageId, null)
  if (turn.state.grants.byKey.get(keyId)?.claimId != null) {
    turn.emit({ type: 'grant-released', keyId })
  }
}

function close(turn: Turn, { change }: OpenGrant): void {
  turn.emit({ type: 'grant-closed', keyId: change.keyId })
}

function answerWaiting(turn: Turn, { waiting }: OpenGrant, custody: GrantAnswer['custody']): void {
  for (const token of waiting.splice(0)) turn.answer(token, { custody } satisfies GrantAnswer)
}

function claimed(turn: Turn, claimId: string): OpenGrant | null {
  for (const open of turn.state.grants.byKey.values()) {
    if (open.claimId === claimId) return open
  }
  return null
}

function isClaimed(turn: Turn, lineageId: LineageId): boolean {
  return some(turn, (it) => it.claimId !== null && it.change.lineageId === lineageId)
}

function isOpen(turn: Turn, lineageId: LineageId): boolean {
  return some(turn, ({ change }) => change.lineageId === lineageId)
}

function some({ state }: Turn, holds: (open: OpenGrant) => boolean): boolean {
  for (const open of state.grants.byKey.values()) if (holds(open)) return true
  return false
}

function lineageOf({ state }: Turn, { keyId, rotatedFrom }: Claimed): LineageId | null {
  return state.keys.get(rotatedFrom ?? (keyId satisfies KeyId))?.lineageId ?? null
}
