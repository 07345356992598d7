import { randomFillSync } from 'node:crypto'
import type { Timers } from '../clock/timers.js'
import { ENTROPY_BYTES, ulidBody } from '../domain/ids.js'

/** The random part of one id, for the caller alone. */
export type DrawEntropy = () => Uint8Array

/** Drawn for many ids at once: a call of its own costs ten times the bytes. */
const POOL_BYTES = ENTROPY_BYTES * 256
let pool = Buffer.alloc(0)
let at = 0

/** A fresh id: `newId<TxId>(ID_PREFIX.tx, timers)`. */
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
