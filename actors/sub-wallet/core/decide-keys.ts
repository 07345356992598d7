import { type ApiKey, keyStatus } from '../../../src/domain/api-key.js'
import type { Spend } from '../../../src/domain/exposure.js'
import { enlargements, grantTermsOf } from '../../../src/domain/grant-terms.js'
import type { KeyId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import { showCall, showVenueCall } from '../../../src/policy/call-shown.js'
import { ceilingResetsAtMs } from '../../../src/policy/ceilings.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { spendWithCredits } from './cap-gate.js'
import { type CapNode, capsAbove } from './caps-above.js'
import {
  narrowPredecessors,
  openGrantOf,
  predecessors,
  putKey,
  putKeyAndGrant,
  withPolicyVersion,
} from './change-key.js'
import { advanceGrants, giveUp, OUTDATED, useClaim } from './decide-grants.js'
import { revokeDescendants, whyNoSubKey } from './decide-sub-keys.js'
import { gasUseOf } from './gas-budget-gate.js'
import type { CallToPredict, Command } from './messages.js'
import { predictJudgement } from './policy-gate.js'
import { ceilingUsed } from './policy-ledgers.js'
import type { CeilingUse, LimitsAnswer, PredictedJudgement } from './replies.js'
import { countersOf, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** The most keys of one sub-wallet that are not revoked; bounds the actor's memory. */
const LIVE_KEYS_MAX = 500

export function createWallet(
  turn: Turn,
  { wallet, requestId = null, byPerson }: Of<'create-wallet'>,
  token: ReplyToken | null,
): void {
  const { state } = turn
  if (state.wallet === null) turn.emit({ type: 'wallet-created', wallet, requestId, byPerson })
  // The caller may repeat the command when its answer was lost.
  if (state.wallet?.userId === wallet.userId) turn.answer(token, state.wallet)
  else turn.refuse(token, fault('NOT_FOUND'))
}

export function registerKey(
  turn: Turn,
  { key, requestId = null, byPerson }: Of<'register-key'>,
  token: ReplyToken | null,
): void {
  const { state } = turn
  if (state.wallet === null || state.wallet.userId !== key.userId) {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  const earlier = state.keys.get(key.keyId)
  const isAnother = earlier?.secretHash !== key.secretHash || earlier.revokedAtMs !== null
  if (earlier !== undefined && isAnother) {
    // The caller repeats the command after a lost answer. Later changes of the key stand, and the
    // identity provider, which was just asked to accept the original grant, has to be notified of
    // them again.
    openGrantOf(turn, earlier)
    advanceGrants(turn)
    turn.answer(token, earlier)
    return
  }
  const atMs = key.createdAtMs
  const refusal =
    liveKeys(turn, atMs) >= LIVE_KEYS_MAX ? tooManyKeys() : whyNoSubKey(state, key, atMs)
  if (refusal !== null) {
    // The identity provider already has the key's grant.
    openGrantOf(turn, key)
    advanceGrants(turn)
    turn.refuse(token, refusal)
    return
  }
  turn.emit({ type: 'key-put', key, change: 'registered', requestId, byPerson, atMs })
  turn.answer(token, key)
}

/**
 * The successor takes over everything except the name of the secret; the old key stays valid for
 * its grace period.
 */
export function rotateKey(
  turn: Turn,
  { keyId, successor, claimId, requestId = null, byPerson, nowMs }: Of<'rotate-key'>,
  token: ReplyToken | null,
): void {
  const old = turn.state.keys.get(keyId)
  const of = { keyId: successor.keyId, rotatedFrom: keyId, patch: null }
  if (!useClaim(turn, claimId, of, nowMs)) {
    advanceGrants(turn)
    turn.answer(token, OUTDATED)
    return
  }
  const isActive = old !== undefined && keyStatus(old, nowMs) === 'active'
  if (!isActive || liveKeys(turn, nowMs) >= LIVE_KEYS_MAX) {
    // The identity provider already has the successor's grant.
    giveUp(turn, of, nowMs)
    advanceGrants(turn)
    turn.refuse(token, isActive ? tooManyKeys() : notActive(old, nowMs))
    return
  }
  const previous: ApiKey = { ...old, rotatedAtMs: nowMs }
  const key: ApiKey = {
    ...old,
    ...successor,
    createdAtMs: nowMs,
    rotatedFrom: old.keyId,
    rotatedAtMs: null,
    revokedAtMs: null,
  }
  turn.emit({
    type: 'key-put',
    key: previous,
    change: 'rotated-out',
    requestId,
    byPerson,
    atMs: nowMs,
  })
  turn.emit({ type: 'key-put', key, change: 'rotated', requestId, byPerson, atMs: nowMs })
  turn.effect({ type: 'key-changed', secretHash: previous.secretHash })
  openGrantOf(turn, previous)
  advanceGrants(turn)
  // Waiting calls made with the old key now have a key that expires.
  turn.touchWaiting(nowMs)
  turn.answer(token, { key, previous })
}

export function revokeKey(
  turn: Turn,
  { keyId, requestId = null, byPerson, nowMs }: Of<'revoke-key'>,
  token: ReplyToken | null,
): void {
  const old = turn.state.keys.get(keyId)
  if (old === undefined) {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  if (keyStatus(old, nowMs) === 'revoked') {
    turn.answer(token, old)
    return
  }
  const key: ApiKey = { ...old, revokedAtMs: nowMs }
  putKeyAndGrant(turn, key, { change: 'revoked', requestId, byPerson, atMs: nowMs })
  // Ending a key also ends the predecessors whose grace period is still running.
  for (const before of predecessors(turn, key, nowMs)) {
    const ended: ApiKey = { ...before, revokedAtMs: nowMs }
    putKeyAndGrant(turn, ended, { change: 'revoked', requestId, byPerson, atMs: nowMs })
  }
  // When only a predecessor ends, its lineage and the keys that it made stay valid.
  if (key.rotatedAtMs === null) {
    revokeDescendants(turn, key, { change: 'revoked', requestId, byPerson, atMs: nowMs })
  }
  // The waiting calls of these keys end in the same commit.
  turn.touchWaiting(nowMs)
  advanceGrants(turn)
  turn.answer(token, key)
}

/**
 * Applies restrictions at once; an enlargement needs the claim under which the user confirmed it.
 */
export function patchKey(
  turn: Turn,
  { keyId, patch, claimId, requestId = null, byPerson, nowMs }: Of<'patch-key'>,
  token: ReplyToken | null,
): void {
  const old = turn.state.keys.get(keyId)
  const of = { keyId, rotatedFrom: null, patch }
  if (claimId !== null && !useClaim(turn, claimId, of, nowMs)) {
    advanceGrants(turn)
    turn.answer(token, OUTDATED)
    return
  }
  if (old === undefined || keyStatus(old, nowMs) === 'revoked') {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  const key = withPolicyVersion(old, { ...old, ...patch })
  const enlarges = enlargements(grantTermsOf(old), grantTermsOf(key)).length > 0
  if (enlarges && claimId === null) {
    turn.answer(token, OUTDATED)
    return
  }
  const change = { change: 'patched', requestId, byPerson, atMs: nowMs } as const
  const narrows = enlargements(grantTermsOf(key), grantTermsOf(old)).length > 0
  // Under a claim the identity provider has already accepted the whole change.
  if (narrows && claimId === null) putKeyAndGrant(turn, key, change)
  else putKey(turn, key, change)
  narrowPredecessors(turn, key, change)
  advanceGrants(turn)
  turn.answer(token, key)
}

export function readLimits(
  turn: Turn,
  { keyId, nowMs, forecast, judged, payees }: Of<'read-limits'>,
  token: ReplyToken | null,
): void {
  if (payees !== undefined) turn.emit({ type: 'payees-read', payees })
  const { state } = turn
  const key = state.keys.get(keyId)
  if (key === undefined) {
    turn.refuse(token, fault('INVALID_KEY'))
    return
  }
  const counters = countersOf(state, key.lineageId, nowMs)
  const withCeilings = (node: CapNode) => ({
    ...node,
    ceilings: ceilingsOf(state, node.key, nowMs),
  })
  const answer: LimitsAnswer = {
    ...withCeilings({ key, counters }),
    gas: gasUseOf(state, nowMs),
    above: capsAbove(state, key.lineageId, nowMs).map(withCeilings),
  }
  const spend =
    forecast === undefined
      ? null
      : spendWithCredits(state, key, forecast.chainId, forecast.exposure, counters, [])
  turn.answer(token, {
    ...answer,
    ...(spend === null ? {} : { valueMicros: spend.valueMicros }),
    ...(judged === undefined ? {} : { predicted: predict(state, key, judged, spend, nowMs) }),
  })
}

/** Returns how a policy would judge the call now. */
function predict(
  state: SubWalletState,
  key: ApiKey,
  { kind, call, tokenOut, policy: tested, spendMicros, gasMicros, gasWei = 0n }: CallToPredict,
  spend: Spend | null,
  nowMs: number,
): PredictedJudgement {
  const policy = tested === undefined ? key.policy : tested
  const known = spendMicros === null || spend === null ? spendMicros : spend.valueMicros + gasMicros
  const asked = { operation: kind, ...call }
  const shown = kind === 'send' ? showCall(asked) : showVenueCall(asked, tokenOut ?? null)
  return (
    predictJudgement(state, key, policy, { shown, spendMicros: known, gasWei, nowMs }) ?? ANY_CALL
  )
}

const ANY_CALL: PredictedJudgement = {
  denied: null,
  effect: 'allow',
  asks: null,
  rule: null,
  reasons: [],
}

function ceilingsOf(state: SubWalletState, key: ApiKey, nowMs: number): readonly CeilingUse[] {
  if (key.policy === null) return []
  return key.policy.ceilings.map((ceiling) => ({
    ceiling,
    used: ceilingUsed(state, key.lineageId, ceiling, nowMs),
    resetsAtMs: ceilingResetsAtMs(ceiling, nowMs),
  }))
}

function liveKeys(turn: Turn, nowMs: number): number {
  let count = 0
  for (const key of turn.state.keys.values()) if (keyStatus(key, nowMs) !== 'revoked') count++
  return count
}

function tooManyKeys() {
  return fault(
    'INVALID_REQUEST',
    { live_keys_max: LIVE_KEYS_MAX },
    `A sub-wallet has at most ${LIVE_KEYS_MAX} live keys; revoke one first.`,
  )
}

function notActive(key: ApiKey | undefined, nowMs: number) {
  if (key === undefined) return fault('NOT_FOUND')
  return fault(
    'INVALID_REQUEST',
    { status: keyStatus(key, nowMs), key_id: key.keyId satisfies KeyId },
    'Only an active key can be rotated; rotate its successor, or issue a new key.',
  )
}
