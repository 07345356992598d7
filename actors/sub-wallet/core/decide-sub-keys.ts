import { type ApiKey, keyStatus } from '../../../src/domain/api-key.js'
import { freezeOf } from '../../../src/domain/freeze.js'
import { enlargements, grantTermsOf } from '../../../src/domain/grant-terms.js'
import { USD_CAP } from '../../../src/domain/key-policy-forms.js'
import {
  LIVE_SUB_KEYS_MAX,
  SUB_KEY_DEPTH_MAX,
  SUB_KEYS_IN_WINDOW_MAX,
  SUB_KEYS_MAX,
  SUB_KEYS_WINDOW_MS,
} from '../../../src/domain/sub-key.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import { commonPolicy, LEAST_POLICY } from '../../../src/policy/common-policy.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { capsAbove, leftOfCaps } from './caps-above.js'
import { type KeyChange, putKeyAndGrant } from './change-key.js'
import { ancestorsOf, countMadeByKeys, countSubKeys, liveDescendants } from './key-tree.js'
import type { Command } from './messages.js'
import { countersOf, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * Decides on keys that a key makes: each may do at most what its maker may do, and ends with its
 * maker. The identity provider checks the same rules independently.
 */

/** Checks whether the key could be made now, before the identity provider is called. */
export function planSubKey(
  turn: Turn,
  { key, madeBy, nowMs }: Extract<Command, { type: 'plan-sub-key' }>,
  token: ReplyToken | null,
): void {
  const { state } = turn
  const maker = state.keys.get(madeBy)
  if (maker === undefined || keyStatus(maker, nowMs) === 'revoked') {
    turn.refuse(token, fault('INVALID_KEY'))
    return
  }
  const above = [maker, ...ancestorsOf(state, maker.lineageId)]
  const planned = underPolicies(key, above)
  const refusal =
    planned === null
      ? noCommonPolicy()
      : (whyNoSubKey(state, planned, nowMs) ??
        widerThan(planned, above) ??
        aboveWhatIsLeft(state, planned, nowMs))
  if (planned === null || refusal !== null) turn.refuse(token, refusal ?? noCommonPolicy())
  else turn.answer(token, planned)
}

/**
 * Returns the key under the policy that its own policy and those above allow together, or null when
 * no policy can express that.
 */
function underPolicies(key: ApiKey, above: readonly ApiKey[]): ApiKey | null {
  let { policy } = key
  for (const head of above) {
    const common = commonPolicy(policy, head.policy)
    if (common === LEAST_POLICY && policy !== LEAST_POLICY && head.policy !== LEAST_POLICY) {
      return null
    }
    policy = common
  }
  return { ...key, policy, ...(policy === null ? {} : { policyVersion: 1 }) }
}

function noCommonPolicy(): Fault {
  return fault(
    'INVALID_REQUEST',
    { field: 'policy' },
    'This policy and that of the requesting key cannot be combined into one; omit it, or give one that allows no more than the other.',
  )
}

/**
 * Returns why a sub-key cannot exist in this wallet, or null when it can. A key without a parent
 * always passes.
 */
export function whyNoSubKey(state: SubWalletState, key: ApiKey, nowMs: number): Fault | null {
  const { parentLineageId } = key
  if (parentLineageId === undefined) return null
  const parent = state.heads.get(parentLineageId)
  if (parent === undefined) return fault('INVALID_KEY')
  const above = [parent, ...ancestorsOf(state, parentLineageId)]
  if (above.some((head) => keyStatus(head, nowMs) === 'revoked')) return fault('INVALID_KEY')
  if (!above.every(({ permission, mayDelegate }) => permission === 'trade' && mayDelegate)) {
    return fault('PERMISSION_DENIED', {}, NO_DELEGATION)
  }
  for (const head of above) {
    const frozen = state.freezes === null ? null : freezeOf(state.freezes, head)
    if (frozen !== null) return frozenFault(frozen)
  }
  if (above.length > SUB_KEY_DEPTH_MAX) {
    return fault(
      'INVALID_REQUEST',
      { depth_max: SUB_KEY_DEPTH_MAX },
      `Keys can be made at most ${SUB_KEY_DEPTH_MAX} levels below the one that a person made.`,
    )
  }
  const { all, own } = countSubKeys(state, parentLineageId, nowMs)
  if (all >= LIVE_SUB_KEYS_MAX) {
    return fault(
      'INVALID_REQUEST',
      { live_sub_keys_of_wallet_max: LIVE_SUB_KEYS_MAX },
      `The keys of a sub-wallet have at most ${LIVE_SUB_KEYS_MAX} live keys of their own; have one revoked first.`,
    )
  }
  if (own >= SUB_KEYS_MAX) {
    return fault(
      'INVALID_REQUEST',
      { live_sub_keys_max: SUB_KEYS_MAX },
      `A key has at most ${SUB_KEYS_MAX} live keys of its own; have one revoked first.`,
    )
  }
  if (countMadeByKeys(state, nowMs - SUB_KEYS_WINDOW_MS) >= SUB_KEYS_IN_WINDOW_MAX) {
    return fault(
      'INVALID_REQUEST',
      { sub_keys_a_week_max: SUB_KEYS_IN_WINDOW_MAX },
      `The keys of a sub-wallet can make at most ${SUB_KEYS_IN_WINDOW_MAX} keys a week, ended ones included: use longer lifetimes, or have a person make one.`,
    )
  }
  return widerThan(key, above)
}

/** Refuses a change that would give a key more than a key above has; null when it would not. */
export function widerThan(key: ApiKey, above: readonly ApiKey[]): Fault | null {
  const terms = grantTermsOf(key)
  const fields = new Set(above.flatMap((head) => enlargements(grantTermsOf(head), terms)))
  if (fields.size === 0) return null
  return fault(
    'INVALID_REQUEST',
    { wider_than_parent: [...fields].sort() },
    `A key cannot give what it does not have: ${[...fields].sort().join(', ')}.`,
  )
}

/** Revokes all keys that this key made, directly or indirectly. */
export function revokeDescendants(turn: Turn, key: ApiKey, change: KeyChange): void {
  for (const below of liveDescendants(turn.state, key.lineageId, change.atMs)) {
    putKeyAndGrant(turn, { ...below, revokedAtMs: change.atMs }, change)
  }
}

/** Refuses caps larger than what the parent has left, because they could never be used. */
function aboveWhatIsLeft(state: SubWalletState, key: ApiKey, nowMs: number): Fault | null {
  const { parentLineageId, dailyLimitMicros, monthlyLimitMicros } = key
  const parent = parentLineageId === undefined ? undefined : state.heads.get(parentLineageId)
  if (parent === undefined) return null
  const own = { key: parent, counters: countersOf(state, parent.lineageId, nowMs) }
  const left = leftOfCaps([own, ...capsAbove(state, parent.lineageId, nowMs)])
  const tooMuch = [
    ...(USD_CAP.enlarges(left.dailyMicros, dailyLimitMicros) ? ['daily_limit_usd'] : []),
    ...(USD_CAP.enlarges(left.monthlyMicros, monthlyLimitMicros) ? ['monthly_limit_usd'] : []),
  ]
  if (tooMuch.length === 0) return null
  return fault(
    'INVALID_REQUEST',
    {
      above_what_is_left: tooMuch,
      daily_left_usd: USD_CAP.toWire(left.dailyMicros),
      monthly_left_usd: USD_CAP.toWire(left.monthlyMicros),
    },
    'The caps of a sub-key must fit in what its maker has left now.',
  )
}

const NO_DELEGATION = 'This API key may not make keys; its owner can allow it (may_delegate).'
