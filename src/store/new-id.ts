import { randomFillSync } from 'node:crypto'
import type { Timers } from '../clock/timers.js'
import { ENTROPY_BYTES, ulidBody } from '../domain/ids.js'

/** Draws the random part of one id. The bytes belong to the caller. */
export type DrawEntropy = () => Uint8Array

/** Bytes are drawn for many ids at once, because a call takes ten times as long as the bytes do. */
const POOL_BYTES = ENTROPY_BYTES * 256
let pool = Buffer.alloc(0)
let at = 0

/** Creates an id: `newId<TxId>(ID_PREFIX.tx, timers)`. */
export function newId<Id extends string>(
  prefix: string,
  { now, random }: Pick<Timers, 'now' | 'random'>,
): Id {
  return (prefix + ulidBody(now(), random.bytes(ENTROPY_BYTES))) as Id
}

/** @param atMs milliseconds since the epoch, by which ids are ordered */
export function idAt<Id extends string>(prefix: string, atMs: number, draw: DrawEntropy): Id {
  return (prefix + ulidBody(atMs, draw())) as Id
}

export function drawEntropy(): Uint8Array {
  if (at === pool.length) {
    pool = randomFillSync(Buffer.alloc(POOL_BYTES))
    at = 0
  }
  const entropy = pool.subarray(at, at + ENTROPY_BYTES)
  at += ENTROPY_BYTES
  return entropy
}
