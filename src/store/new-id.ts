import { randomFillSync } from 'node:crypto'
import { ulidBody } from '../domain/ids.js'

const ENTROPY_BYTES = 10
/** Drawn for many ids at once: a call of its own costs ten times the bytes. */
const pool = Buffer.alloc(ENTROPY_BYTES * 256)
let at = pool.length

/** A fresh id: `newId<TxId>(ID_PREFIX.tx)`. */
export function newId<Id extends string>(prefix: string): Id {
  return (prefix + ulidBody(Date.now(), drawEntropy())) as Id
}

/** @returns the random part of one id, for the caller alone, until some are drawn after it */
export function drawEntropy(): Buffer {
  if (at === pool.length) {
    randomFillSync(pool)
    at = 0
  }
  const entropy = pool.subarray(at, at + ENTROPY_BYTES)
  at += ENTROPY_BYTES
  return entropy
}
