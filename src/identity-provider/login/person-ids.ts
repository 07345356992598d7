import { createHmac, randomBytes } from 'node:crypto'
import { type UserId, ulidBody } from '../../domain/ids.js'

/**
 * The id of a new person follows from their address and a secret of this installation. The id that an address
 * would get is therefore known before anybody signs in by it: an invitation names a person in both cases, and
 * does not tell who has an account. No address is ever given to a second person, so that no id is either.
 */
export interface PersonIdSecret {
  /** 32 random bytes. */
  readonly key: Buffer
  /** When it was drawn, ms since the epoch. */
  readonly drawnAtMs: number
}

const KEY_BYTES = 32
const ULID_RANDOM_BYTES = 10
const TIME_BYTES = 6
/** Ids name a moment of this time before the secret was drawn, as ids of people who came earlier do. */
const SPREAD_MS = 180 * 24 * 3_600_000

export function drawPersonIdSecret(nowMs: number): PersonIdSecret {
  return { key: randomBytes(KEY_BYTES), drawnAtMs: nowMs }
}

/** @param emailKey as `normaliseEmail` gives it */
export function personIdOf({ key, drawnAtMs }: PersonIdSecret, emailKey: string): UserId {
  const digest = createHmac('sha256', key).update(emailKey).digest()
  const beforeMs = digest.readUIntBE(ULID_RANDOM_BYTES, TIME_BYTES) % SPREAD_MS
  return `user_${ulidBody(drawnAtMs - beforeMs, digest.subarray(0, ULID_RANDOM_BYTES))}` as UserId
}
