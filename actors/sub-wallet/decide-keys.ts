import { type ApiKey, keyStatus } from '../../src/domain/api-key.js'
import type { KeyId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import type { ReplyToken } from '../runtime/actor.js'
import { spendWithCredits } from './admission.js'
import type { Command } from './messages.js'
import { countersOf } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** Keys of one sub-wallet that are not revoked; bounds the actor's memory. */
const LIVE_KEYS_MAX = 500

export function createWallet(
  turn: Turn,
  { wallet, requestId = null }: Of<'create-wallet'>,
  token: ReplyToken | null,
): void {
  if (turn.state.wallet === null) turn.emit({ type: 'wallet-created', wallet, requestId })
  turn.answer(token, turn.state.wallet)
}

export function registerKey(
  turn: Turn,
  { key, requestId = null }: Of<'register-key'>,
  token: ReplyToken | null,
): void {
  const { state } = turn
  if (state.wallet === null || state.wallet.userId !== key.userId) {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  const atMs = key.createdAtMs
  if (liveKeys(turn, atMs) >= LIVE_KEYS_MAX) {
    turn.refuse(token, tooManyKeys())
    return
  }
  turn.emit({ type: 'key-put', key, change: 'registered', requestId, atMs })
  turn.answer(token, key)
}

/** The successor keeps everything but name of the secret; the old key lives for its grace. */
export function rotateKey(
  turn: Turn,
  { keyId, successor, requestId = null, nowMs }: Of<'rotate-key'>,
  token: ReplyToken | null,
): void {
  const old = turn.state.keys.get(keyId)
  if (old === undefined || keyStatus(old, nowMs) !== 'active') {
    turn.refuse(token, notActive(old, nowMs))
    return
  }
  if (liveKeys(turn, nowMs) >= LIVE_KEYS_MAX) {
    turn.refuse(token, tooManyKeys())
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
  turn.emit({ type: 'key-put', key: previous, change: 'rotated-out', requestId, atMs: nowMs })
  turn.emit({ type: 'key-put', key, change: 'rotated', requestId, atMs: nowMs })
  turn.effect({ type: 'key-changed', secretHash: previous.secretHash })
  turn.answer(token, { key, previous })
}

export function revokeKey(
  turn: Turn,
  { keyId, requestId = null, nowMs }: Of<'revoke-key'>,
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
  turn.emit({ type: 'key-put', key, change: 'revoked', requestId, atMs: nowMs })
  turn.effect({ type: 'key-changed', secretHash: key.secretHash })
  turn.answer(token, key)
}

export function patchKey(
  turn: Turn,
  { keyId, patch, requestId = null, nowMs }: Of<'patch-key'>,
  token: ReplyToken | null,
): void {
  const old = turn.state.keys.get(keyId)
  if (old === undefined || keyStatus(old, nowMs) === 'revoked') {
    turn.refuse(token, fault('NOT_FOUND'))
    return
  }
  const key: ApiKey = { ...old, ...patch }
  turn.emit({ type: 'key-put', key, change: 'patched', requestId, atMs: nowMs })
  turn.effect({ type: 'key-changed', secretHash: key.secretHash })
  turn.answer(token, key)
}

export function readLimits(
  turn: Turn,
  { keyId, nowMs, forecast }: Of<'read-limits'>,
  token: ReplyToken | null,
): void {
  const key = turn.state.keys.get(keyId)
  if (key === undefined) {
    turn.refuse(token, fault('INVALID_KEY'))
    return
  }
  const counters = countersOf(turn.state, key.lineageId, nowMs)
  if (forecast === undefined) {
    turn.answer(token, { key, counters })
    return
  }
  const { chainId, exposure } = forecast
  const { valueMicros } = spendWithCredits(turn.state, key, chainId, exposure, counters)
  turn.answer(token, { key, counters, valueMicros })
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
