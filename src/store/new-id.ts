import { randomBytes } from 'node:crypto'
import { ulidBody } from '../domain/ids.js'

/** A fresh id: `newId<TxId>(ID_PREFIX.tx)`. */
export function newId<Id extends string>(prefix: string): Id {
  return (prefix + ulidBody(Date.now(), randomBytes(10))) as Id
}
