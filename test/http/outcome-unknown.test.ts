import { expect, test } from 'vitest'
import type { TxId } from '../../src/domain/ids.js'
import { fault, ok, refuse } from '../../src/errors/fault.js'
import { ofRead, outcomeUnknown, unknownCall } from '../../src/errors/outcome-unknown.js'

const TX_ID = 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YB' as TxId

test('a call without an Idempotency-Key is told the id that it has if it was taken', () => {
  const told = unknownCall(outcomeUnknown('journal'), TX_ID, false)
  expect(told).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { tx_id: TX_ID } })
  expect(told.message).toContain(TX_ID)
})

test('one with a key is not: a repetition has the id of the first', () => {
  const told = unknownCall(outcomeUnknown('journal'), TX_ID, true)
  expect(told).toEqual(outcomeUnknown('journal'))
  expect(JSON.stringify(told)).not.toContain(TX_ID)
})

test('what was refused has no outcome to ask about', () => {
  const refused = fault('LIMIT_EXCEEDED')
  expect(unknownCall(refused, TX_ID, false)).toBe(refused)
})

test('a read without a reply has done nothing, whatever held it up', () => {
  expect(ofRead(refuse(outcomeUnknown('journal')))).toMatchObject({
    fault: { code: 'WRITES_STOPPED', details: { reason: 'journal' } },
  })
  expect(ofRead(refuse(outcomeUnknown('late')))).toMatchObject({ fault: { code: 'INTERNAL' } })
  const answered = ok(1)
  expect(ofRead(answered)).toBe(answered)
})
