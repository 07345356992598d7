import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ApiError, answerOf } from '../../src/console/answers.js'
import { movesShown } from '../../src/console/approvals/moves-shown.js'
import { creationKey } from '../../src/console/parts/creation-key.js'
import { makeOnce } from '../../src/console/parts/make-once.js'
import { oneByOne } from '../../src/console/parts/one-by-one.js'
import { submissionsOf } from '../../src/console/parts/submissions.js'
import { unansweredOf } from '../../src/console/parts/unanswered.js'

/** What the console does for good it does once, and as it was shown. */

test('an answer that breaks off is none: nobody takes it for done, or for nothing done', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
    response.write('{"tx_id":"tx_', () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const failed = await answerOf(response).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(ApiError)
    expect(failed).toMatchObject({ status: 0, code: 'NO_ANSWER' })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('a page of somebody between is no answer either', async () => {
  const page = new Response('<html>Sign in to the hotel</html>', { status: 200 })
  await expect(answerOf(page)).rejects.toMatchObject({ code: 'NO_ANSWER' })
  const refusal = new Response('{"error":{"code":"FROZEN","message":"No."}}', { status: 403 })
  await expect(answerOf(refusal)).rejects.toMatchObject({ status: 403, code: 'FROZEN' })
  await expect(answerOf(new Response('', { status: 502 }))).rejects.toMatchObject({
    ...{ status: 502, message: 'The service answered 502.' },
  })
  expect(await answerOf(new Response('{"a":1}'))).toEqual({ a: 1 })
})

test('a submission keeps its idempotency key while it says the same, and until it is carried out', () => {
  let ids = 0
  const unanswered = unansweredOf(storage(), () => 0)
  const submissions = submissionsOf<{ to: string; amount: string }>(() => `id ${++ids}`, unanswered)
  const first = submissions.for({ to: '0xa', amount: '1' })
  expect(submissions.for({ to: '0xa', amount: '1' })).toBe(first)
  const other = submissions.for({ to: '0xa', amount: '2' })
  expect(other).toEqual({ id: 'id 2', terms: { to: '0xa', amount: '2' } })
  const back = submissions.for({ to: '0xa', amount: '1' })
  expect(back.id, 'what was asked about the first says nothing of it').toBe('id 3')
  submissions.done(back)
  expect(submissions.for({ to: '0xa', amount: '1' }).id, 'it is wished once more').toBe('id 4')
})

test('what was sent and not answered keeps its key in a page that is loaded again', () => {
  const kept = storage()
  let nowMs = 0
  let ids = 0
  const page = () =>
    submissionsOf<{ to: string }>(
      () => `id ${++ids}`,
      unansweredOf(kept, () => nowMs),
    )
  const first = page()
  const sent = first.for({ to: '0xa' })
  expect(page().for({ to: '0xa' }).id, 'only looked at').toBe('id 2')
  first.sent(sent)
  const anew = page()
  const again = anew.for({ to: '0xa' })
  expect(again.id).toBe(sent.id)
  expect(anew.for({ to: '0xb' }).id).toBe('id 3')
  anew.done(again)
  expect(page().for({ to: '0xa' }).id, 'answered, so that it is another one').toBe('id 4')
  first.sent(sent)
  nowMs = 24 * 3_600_000 + 1
  expect(page().for({ to: '0xa' }).id, 'no longer remembered by the service').toBe('id 5')
  kept.setItem('countersign:unanswered', 'not JSON')
  expect(page().for({ to: '0xa' }).id).toBe('id 6')
  for (let i = 0; i < 30; i++) first.sent({ id: `many ${i}`, terms: { to: `0x${i}` } })
  expect(page().for({ to: '0x29' }).id).toBe('many 29')
  expect(page().for({ to: '0x0' }).id, 'kept within a bound').toBe('id 7')
})

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>()
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => void items.set(name, text),
    removeItem: (name) => void items.delete(name),
  }
}

test('what is tried again until it is confirmed is never tried twice at a time', async () => {
  const over = new AbortController()
  let [running, most, times] = [0, 0, 0]
  await oneByOne(
    async () => {
      most = Math.max(most, ++running)
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      running--
      if (++times === 3) over.abort()
    },
    1,
    over.signal,
  )
  expect({ most, times }).toEqual({ most: 1, times: 3 })
})

test('whoever approves a call sees the coins that it is sent with, also where its data says nothing', () => {
  const call = { value: '5', intent: null, decoded: { moves: null } }
  expect(movesShown(call)).toEqual({
    moves: [{ token: 'native', amount: '5', symbol: null, decimals: null }],
    isAll: false,
  })
  expect(movesShown({ ...call, value: '0' })).toEqual({ moves: [], isAll: false })
  const moves = [{ token: '0xab', amount: '7', symbol: 'USDC', decimals: 6 }]
  expect(movesShown({ ...call, decoded: { moves } })).toEqual({ moves, isAll: true })
  const intent = {}
  expect(movesShown({ ...call, intent }), 'the service sends it').toEqual({
    moves: [],
    isAll: false,
  })
})

test('what is made is asked for under one key until an answer comes, and then under another', async () => {
  let ids = 0
  const submissions = submissionsOf<string>(
    () => `id ${++ids}`,
    unansweredOf(storage(), () => 0),
  )
  const asked: string[] = []
  const failing = (code: string) => () => {
    return makeOnce(submissions, 'a wallet', async (_terms, id) => {
      asked.push(id)
      throw new ApiError(0, { code, message: code })
    })
  }
  await expect(failing('NO_ANSWER')()).rejects.toThrow('NO_ANSWER')
  await expect(failing('COSIGNER_UNAVAILABLE')()).rejects.toThrow('COSIGNER_UNAVAILABLE')
  const make = (terms: string) =>
    makeOnce(submissions, terms, async (_terms, id) => {
      asked.push(id)
      return id
    })
  expect(await make('a wallet')).toBe('id 1')
  expect(await make('a wallet'), 'another one is wished').toBe('id 2')
  // Its key may be too old by now: nothing is made of that one any more.
  await expect(failing('INVALID_REQUEST')()).rejects.toThrow('INVALID_REQUEST')
  expect(await make('a wallet')).toBe('id 4')
  await expect(failing('IDEMPOTENCY_KEY_REUSED')()).rejects.toThrow('IDEMPOTENCY_KEY_REUSED')
  expect(await make('a wallet')).toBe('id 6')
  expect(asked).toEqual(['id 1', 'id 1', 'id 1', 'id 2', 'id 3', 'id 4', 'id 5', 'id 6'])
})

test('a key of something to be made is a UUID of version 7 with its time in front', () => {
  const key = creationKey(0x0123_4567_89ab, new Uint8Array(10).fill(0xff))
  expect(key).toBe('01234567-89ab-7fff-bfff-ffffffffffff')
})
