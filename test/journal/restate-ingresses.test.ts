import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { JournalUnavailable } from '../../src/journal/journal.js'
import { type Asking, createIngresses, type Question } from '../../src/journal/restate-ingresses.js'
import { freePort } from '../support/ports.js'

const question: Question = {
  operation: 'append',
  key: '7',
  bytes: Buffer.from('sealed'),
  name: 'its name',
}
const HOUR_MS = 3_600_000
/** For longer than an answer takes where the machine is busy. */
const HEDGE_MS = 2_000
const text = (answer: Uint8Array) => Buffer.from(answer).toString()

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Ingress {
  readonly url: string
  asked: number
  readonly requests: IncomingMessage[]
}

async function ingress(answers: (response: ServerResponse) => void): Promise<Ingress> {
  const own: { asked: number; requests: IncomingMessage[] } = { asked: 0, requests: [] }
  const server: Server = createServer((incoming, response) => {
    own.asked++
    own.requests.push(incoming)
    incoming.resume().once('end', () => answers(response))
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return Object.assign(own, { url: `http://127.0.0.1:${port}` })
}

function asking(urls: readonly string[], hedgeMs: number, answerMs: number): Asking {
  const opened = createIngresses(urls, { hedgeMs, heartbeatHedgeMs: HEDGE_MS, answerMs })
  closing.push(() => opened.close())
  return opened
}

const says = (answer: string) => (response: ServerResponse) => void response.end(answer)
const never = () => undefined
const gone = async () => `http://127.0.0.1:${await freePort()}`

test('an object is asked by its key and operation, with what the request is known by', async () => {
  const one = await ingress(says('yes'))
  expect(await asking([one.url], HOUR_MS, HOUR_MS).ask(question, text)).toBe('yes')
  const [request] = one.requests
  expect(request?.url).toBe('/CountersignJournal1/7/append')
  expect(request?.headers).toMatchObject({
    'idempotency-key': 'its name',
    'content-type': 'application/octet-stream',
  })
})

test('one that is frozen is not waited for: the next is asked beside it, and stays the first', async () => {
  const [frozen, other] = [await ingress(never), await ingress(says('of the other'))]
  const both = asking([frozen.url, other.url], HEDGE_MS, HOUR_MS)
  expect(await both.ask(question, text)).toBe('of the other')
  expect(await both.ask(question, text)).toBe('of the other')
  expect([frozen.asked, other.asked]).toEqual([1, 2])
})

test('an owner that says it lives waits for a frozen one for less long than others do', async () => {
  const [frozen, other] = [await ingress(never), await ingress(says('heard'))]
  const both = asking([frozen.url, other.url], HOUR_MS, HOUR_MS)
  expect(await both.ask({ ...question, operation: 'beat', name: null }, text)).toBe('heard')
  expect([frozen.asked, other.asked]).toEqual([1, 1])
})

test('the first answer counts, of one that was asked earlier too', async () => {
  let isAsked: () => void = () => undefined
  const second = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const slow = await ingress((response) => void second.then(() => response.end('of the slow')))
  const frozen = await ingress(() => isAsked())
  expect(await asking([slow.url, frozen.url], HEDGE_MS, HOUR_MS).ask(question, text)).toBe(
    'of the slow',
  )
  expect(frozen.asked).toBe(1)
})

test('what fails is passed over at once', async () => {
  const broken = await ingress((response) => void response.writeHead(500).end('no'))
  const useless = await ingress(says('not this'))
  const good = await ingress(says('good'))
  const all = asking([await gone(), broken.url, useless.url, good.url], HOUR_MS, HOUR_MS)
  const use = (answer: Uint8Array) => {
    if (text(answer) !== 'good') throw new Error('of no use')
    return text(answer)
  }
  expect(await all.ask(question, use)).toBe('good')
})

test('where none answers the outcome is unknown, and one refusal is told', async () => {
  const broken = await ingress((response) => void response.writeHead(404).end('no such service'))
  const all = asking([broken.url, await gone()], HOUR_MS, HOUR_MS)
  const error = await all.ask(question, text).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(JournalUnavailable)
  expect(String((error as Error).cause)).toContain(
    '404: no such service; no handler for append is registered there',
  )
})

test('where all are silent the outcome is unknown in the end, and each was asked meanwhile', async () => {
  const silent = [await ingress(never), await ingress(never), await ingress(never)]
  const all = asking(
    silent.map(({ url }) => url),
    200,
    1_500,
  )
  await expect(all.ask(question, text)).rejects.toThrow(JournalUnavailable)
  for (const { asked } of silent) expect(asked).toBeGreaterThan(0)
})

test('one whose first request is stuck is asked again in its turn', async () => {
  let requests = 0
  const one = await ingress((response) => {
    if (++requests === 2) response.end('in time')
  })
  expect(await asking([one.url], 50, HOUR_MS).ask(question, text)).toBe('in time')
})

test('closing ends what is under way', async () => {
  let isAsked: () => void = () => undefined
  const arrived = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const frozen = await ingress(() => isAsked())
  const one = asking([frozen.url], HOUR_MS, HOUR_MS)
  const asked = one.ask(question, text)
  const ended = expect(asked).rejects.toThrow(JournalUnavailable)
  await arrived
  await one.close()
  await ended
  await expect(one.ask(question, text)).rejects.toThrow('closed')
})
