import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { BODY_BYTES_MAX } from '../../src/http/body.js'
import { exchangeRaw, type Harness, READ_SECRET, startHarness, TRADE_SECRET } from './harness.js'

let harness: Harness

afterEach(async () => {
  await harness.server.close()
})

const PIECE_BYTES = 100_000

/** A console request of a stranger's, whose body never comes to its end. @returns its answer */
function abandon(): Promise<string> {
  const head = [
    'POST /api/v1/agent/wallets HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Authorization: Bearer not.a.token',
    `Content-Length: ${BODY_BYTES_MAX}`,
    '',
    '',
  ].join('\r\n')
  return exchangeRaw(harness.port, [head, ' '.repeat(PIECE_BYTES)], /request_id/)
}

/** A simulation whose body comes in pieces. @returns its answer */
function simulateInPieces(secret: string): Promise<string> {
  const data = `0x${'00'.repeat(PIECE_BYTES)}`
  const body = JSON.stringify({ chain_id: 1, to: `0x${'ab'.repeat(20)}`, value: '1', data })
  const head = [
    'POST /api/tx/simulate HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `X-Api-Key: ${secret}`,
    `Content-Length: ${body.length}`,
    '',
    '',
  ].join('\r\n')
  return new Promise((resolve, reject) => {
    const socket = connect(harness.port, '127.0.0.1')
    socket.on('error', reject)
    socket.on('data', (answer) => {
      socket.destroy()
      resolve(answer.toString('latin1'))
    })
    socket.write(head + body.slice(0, 10))
    void delay(50).then(() => socket.write(body.slice(10)))
  })
}

test('a body whose request was answered before its end takes no room any more', async () => {
  harness = await startHarness({ bodyBytesMax: 2 * BODY_BYTES_MAX })
  for (let i = 0; i < 6; i++) expect(await abandon()).toMatch(/^HTTP\/1\.1 401/)
  expect(await simulateInPieces(READ_SECRET)).toMatch(/^HTTP\/1\.1 200/)
})

test('bodies of no length that never end take no more room than their key has paid for', async () => {
  harness = await startHarness({
    bodyBytesMax: 3 * BODY_BYTES_MAX,
    // One of them, and a part of the next.
    ratePolicy: { name: 'key', refillPerSecond: 1, burst: 80 },
  })
  const head = [
    'POST /api/tx/simulate HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `X-Api-Key: ${TRADE_SECRET}`,
    'Transfer-Encoding: chunked',
    '',
    '',
  ].join('\r\n')
  const piece = ' '.repeat(PIECE_BYTES)
  const chunk = `${PIECE_BYTES.toString(16)}\r\n${piece}\r\n`
  const sockets: Socket[] = []
  for (let i = 0; i < 8; i++) {
    const socket = connect(harness.port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    socket.write(head + chunk)
    socket.write(chunk)
  }
  await delay(1_000)
  expect(await simulateInPieces(READ_SECRET)).toMatch(/^HTTP\/1\.1 200/)
  for (const socket of sockets) socket.destroy()
})

test('a caller that sends a body too slowly is told so', async () => {
  harness = await startHarness()
  const head = [
    'POST /api/tx/simulate HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `X-Api-Key: ${READ_SECRET}`,
    'Content-Length: 1000',
    '',
    '',
  ].join('\r\n')
  const answers = await Promise.all(
    [[head], [head, '{']].map((pieces) => exchangeRaw(harness.port, pieces, /request_id/)),
  )
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('REQUEST_TIMEOUT')
  }
}, 20_000)
