import { generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { SocketClient, SocketClientOptions } from '../../src/quorum-protocol/client.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { linkQuorum } from '../../src/service-custody/quorum-link.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

test('a reason for which there is no session is said once, however often it is tried', async () => {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = p256SignerOf(root.privateKey)
  const timers = new VirtualTimers(START_MS)
  const said: string[] = []
  let tries = 0
  let reason = 'registry version 2 names none of its keys'
  const link = linkQuorum({
    userSide: { path: 'user' },
    quorumSocket: 'quorum',
    connect: connectAtOnce,
    registry: { current: { version: 2 } } as never,
    signer,
    renewSigner() {
      tries++
      return Promise.reject(new Error(reason))
    },
    boot: new Uint8Array(16),
    timers,
    log: pino({}, { write: (line: string) => void said.push(line) }),
    approvedFloor: () => 0,
    onLost: () => undefined,
  })
  await timers.pass(2_000)
  expect(tries).toBeGreaterThan(10)
  expect(said.map((line) => JSON.parse(line).err?.message)).toEqual([reason])
  reason = 'the token does not answer'
  await timers.pass(2_000)
  expect(said.map((line) => JSON.parse(line).err?.message).slice(1)).toEqual([reason])
  link.close()
})

/** A connection that stands from the first moment on. */
function connectAtOnce({ onConnect }: SocketClientOptions): SocketClient {
  queueMicrotask(onConnect)
  return {
    ...{ connected: true, answering: true },
    call: () => Promise.reject(new Error('nothing is asked before there is a signer')),
    reset: () => undefined,
    close: () => undefined,
  }
}
