import { readFileSync } from 'node:fs'
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import type { Issued } from '../../scripts/dev/certificates.js'
import { readTlsFiles } from '../../src/config/tls-files.js'
import { reasonOf } from '../../src/quorum-protocol/endpoint.js'
import { freePort } from '../support/ports.js'
import { putInPlace } from '../support/put-in-place.js'
import { HOST, linkWorld, NAMES } from './link-world.js'

/** More than may be amid their handshakes at a time. */
const CROWD = 100
const HANDSHAKES_MAX = 64
const OF_ONE_CERTIFICATE_MAX = 64
const CONNECTIONS_MAX = 256
/** A listener ends who is silent for 15 s, a client what is silent for 10. */
const SILENCE = { timeout: 60_000 }

const link = linkWorld()

/** What keeps crowds alive. */
const keptAlive: NodeJS.Timeout[] = []
afterEach(() => {
  for (const living of keptAlive.splice(0)) clearInterval(living)
})

/** What listens in the place of the identity provider. */
async function impostor(of: Issued): Promise<number> {
  const at = await freePort()
  const [cert, key, ca] = [of.certificate, of.key, link.authority.certificate].map((path) =>
    readFileSync(path),
  )
  const server = createServer({ cert, key, ca, requestCert: true }, (socket) => {
    socket.on('error', () => {})
    link.server.serve(socket)
  })
  await link.opened(server, at)
  return at
}

describe('a service on another machine', () => {
  test('is answered over TLS 1.3, with as much in a frame as on the Unix socket', async () => {
    const client = await link.answers(link.endpoint(link.service))
    expect(await client.call('sum', [2, 3])).toBe(5)
    const long = Buffer.alloc(1_000_000, 7)
    const [echoed] = (await client.call('echo', [long])) as [Uint8Array]
    expect(Buffer.compare(echoed, long)).toBe(0)
    // By its name, too, where its address says nothing.
    await link.answers(link.endpoint(link.service, { serverName: 'identity' }))
  })

  test('is not let in without a certificate', async () => {
    const outcome = await new Promise<string>((resolve) => {
      const socket = link.tls({ cert: undefined, key: undefined })
      socket.on('error', ({ message }) => resolve(message))
      socket.on('data', () => resolve('answered'))
      socket.on('close', () => resolve('closed'))
      socket.write(pingFrame())
    })
    expect(outcome).toMatch(/certificate required/)
    expect(link.said.join()).toContain('PEER_DID_NOT_RETURN_A_CERTIFICATE')
  })

  test('is not let in with a certificate of another authority, or one that has ended', async () => {
    const foreign = link.stranger.issue('foreign', { usage: 'clientAuth' })
    const ended = link.authority.issue('ended', { usage: 'clientAuth', days: -1 })
    expect(await link.refusal(link.endpoint(foreign))).toMatch(/certificate of this side/)
    expect(link.said.join()).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/)
    expect(await link.refusal(link.endpoint(ended))).toMatch(/certificate of this side/)
  })

  test('is not let in with the certificate of an identity provider', async () => {
    expect(await link.refusal(link.endpoint(link.identity))).toMatch(/certificate of this side/)
    expect(link.said.join()).toContain('INVALID_PURPOSE')
  })

  test('is not let in by TLS 1.2, nor after a certificate was renewed', async () => {
    const attempt = () =>
      new Promise<string>((resolve) => {
        const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
        const socket = link.tls(versions)
        socket.on('secureConnect', () => resolve('in'))
        socket.on('error', ({ message }) => resolve(message))
      })
    expect(await attempt()).toMatch(/protocol version/)
    const before = await link.servedSerial()
    const next = link.renewed('identity-12')
    putInPlace(next.key, link.files.key)
    putInPlace(next.certificate, link.files.certificate)
    await expect.poll(() => link.servedSerial()).not.toBe(before)
    expect(await attempt()).toMatch(/protocol version/)
    expect(
      await link.refusal(link.endpoint(link.stranger.issue('foreign-2', { usage: 'clientAuth' }))),
    ).toMatch(/certificate of this side/)
  })

  test('does not go on with a session of before, whose certificate is asked for again', async () => {
    const session = await new Promise<Buffer | null>((resolve, reject) => {
      const socket = link.tls()
      socket.write(pingFrame())
      let ticket: Buffer | null = null
      socket.on('session', (found) => {
        ticket = found
      })
      socket.on('error', reject)
      // Tickets come before the first answer.
      socket.once('data', () => resolve(ticket))
    })
    const kept = session === null ? {} : { session }
    const isReused = await new Promise<boolean>((resolve, reject) => {
      const socket = link.tls(kept)
      socket.on('secureConnect', () => resolve(socket.isSessionReused()))
      socket.on('error', reject)
    })
    expect(isReused).toBe(false)
  })
})

describe('who answers in the place of the identity provider', () => {
  test('is not believed with a certificate of another authority', async () => {
    const at = await impostor(
      link.stranger.issue('impostor', { usage: 'serverAuth', names: NAMES }),
    )
    expect(await link.refusal(link.endpoint(link.service, { port: at }))).toMatch(
      /unable to verify|issuer/,
    )
  })

  test('is not believed with a certificate for another name or address', async () => {
    expect(await link.refusal(link.endpoint(link.service, { serverName: 'another' }))).toMatch(
      /altnames/,
    )
    const at = await impostor(link.renewed('elsewhere', { names: 'DNS:identity,IP:127.0.0.2' }))
    expect(await link.refusal(link.endpoint(link.service, { port: at }))).toMatch(
      /127\.0\.0\.1 is not in/,
    )
  })

  test('is not believed with a certificate that has ended, or one of a service', async () => {
    const ended = link.renewed('ended-identity', { days: -1 })
    expect(
      await link.refusal(link.endpoint(link.service, { port: await impostor(ended) })),
    ).toMatch(/expired/)
    const other = link.authority.issue('other-service', { usage: 'clientAuth', names: NAMES })
    expect(
      await link.refusal(link.endpoint(link.service, { port: await impostor(other) })),
    ).toMatch(/purpose/)
  })
})

test('a name at none of whose addresses anybody listens is told of in words', () => {
  const ofNode = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  expect(reasonOf(ofNode)).toBe('ECONNREFUSED')
})

describe('whoever reaches the port', () => {
  test('costs the others nothing by garbage, or a frame that is none', async () => {
    const client = await link.answers(link.endpoint(link.service))
    const garbage = await open()
    garbage.write(Buffer.alloc(100_000, 7))
    await ended(garbage)
    const insider = link.tls()
    insider.write(Buffer.alloc(64, 255))
    await ended(insider)
    expect(await client.call('sum', [1, 1])).toBe(2)
    expect(client.connected).toBe(true)
  })

  test('keeps nobody out by handshakes that are never finished, however many', async () => {
    const client = await link.answers(link.endpoint(link.service))
    const crowd: Socket[] = []
    for (let i = 0; i < CROWD; i++) crowd.push(await open())
    // A hello of which the rest does not come.
    for (const socket of crowd) socket.write(Buffer.from('160301010001', 'hex'))
    const closed = () => crowd.filter((socket) => socket.closed).length
    await expect.poll(closed).toBe(CROWD - HANDSHAKES_MAX)
    expect(await client.call('sum', [1, 2])).toBe(3)
    const late = await link.answers(link.endpoint(link.service))
    expect(await late.call('sum', [3, 4])).toBe(7)
    // Those that are left have their time, and are ended as well.
    await expect.poll(closed).toBe(CROWD)
  })

  test('keeps no other machine out by the certificate of one, however often it connects', async () => {
    const other = link.authority.issue('other-machine', { usage: 'clientAuth' })
    const client = await link.answers(link.endpoint(other))
    const held = await crowdOf(link.service, CONNECTIONS_MAX)
    await expect.poll(() => openOf(held)).toBe(OF_ONE_CERTIFICATE_MAX)
    // The newest are those that are left, so that a service which comes back is among them.
    expect(openOf(held.slice(-OF_ONE_CERTIFICATE_MAX))).toBe(OF_ONE_CERTIFICATE_MAX)
    expect(link.said.join()).toContain('too many connections')
    expect(await client.call('sum', [2, 2])).toBe(4)
    const late = await link.answers(link.endpoint(other))
    expect(await late.call('sum', [3, 4])).toBe(7)
  })

  test('finds a place where all are taken, of the certificate that has the most', async () => {
    const other = link.authority.issue('last-machine', { usage: 'clientAuth' })
    const client = await link.answers(link.endpoint(other))
    const many = Math.floor(CONNECTIONS_MAX / OF_ONE_CERTIFICATE_MAX)
    const machines: TLSSocket[][] = []
    for (let i = 0; i < many; i++) {
      const of = link.authority.issue(`machine-${i}`, { usage: 'clientAuth' })
      machines.push(await crowdOf(of, OF_ONE_CERTIFICATE_MAX))
    }
    const open = () => openOf(machines.flat())
    await expect.poll(open).toBe(CONNECTIONS_MAX - 1)
    const late = await link.answers(link.endpoint(other))
    expect(await late.call('sum', [3, 4])).toBe(7)
    expect(await client.call('sum', [2, 2])).toBe(4)
    await expect.poll(open).toBe(CONNECTIONS_MAX - 2)
  })
})

test('who is silent is not waited for, at either end', async () => {
  const mute = link.tls()
  const held = await freePort()
  const mutes = createServer(
    readTlsFiles({ ...link.identity, authority: link.authority.certificate }),
    (socket) => socket.on('error', () => {}).resume(),
  )
  await link.opened(mutes, held)
  const unanswered = link.dial(link.endpoint(link.service, { port: held }))
  const neverOpen = await freePort()
  const deaf = createTcpServer((socket) => void link.sockets.push(socket))
  await link.opened(deaf, neverOpen)
  const unopened = link.dial(link.endpoint(link.service, { port: neverOpen }))
  const client = await link.answers(link.endpoint(link.service))
  await expect.poll(() => unopened.reasons[0], SILENCE).toMatch(/nothing heard/)
  await expect.poll(() => unanswered.reasons[0], SILENCE).toMatch(/nothing heard/)
  await expect.poll(() => mute.closed, SILENCE).toBe(true)
  // While one that has nothing to say but that it lives stays.
  expect(client.answering).toBe(true)
  expect(await client.call('sum', [1, 1])).toBe(2)
})

test('a client that is refused asks ever more seldom, as one that finds nobody', async () => {
  const foreign = link.stranger.issue('patient', { usage: 'clientAuth' })
  const { reasons } = link.dial(link.endpoint(foreign))
  const startedAt = performance.now()
  await expect.poll(() => reasons.length).toBeGreaterThan(6)
  // 25 + 50 + 100 + 200 + 400 + 800 ms, were every attempt over at once.
  expect(performance.now() - startedAt).toBeGreaterThan(1_500)
})

/** `[0, 'ping', []]` */
function pingFrame(): Buffer {
  const body = Buffer.from([0x93, 0, 0xa4, ...Buffer.from('ping'), 0x90])
  return Buffer.concat([Buffer.from([0, 0, 0, body.length]), body])
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(link.port, HOST, () => resolve(socket))
    link.sockets.push(socket)
    socket.on('error', reject)
    socket.resume()
  })
}

/** Each was answered, so that it had its place; and none that has one is silent, however long it takes. */
async function crowdOf(of: Issued, size: number): Promise<TLSSocket[]> {
  const held: TLSSocket[] = []
  const credentials = readTlsFiles({ ...of, authority: link.authority.certificate })
  const living = setInterval(() => {
    for (const socket of held) if (!socket.destroyed) socket.write(pingFrame())
  }, 2_000)
  keptAlive.push(living)
  while (held.length < size) held.push(await heldOpen(credentials))
  return held
}

function openOf(sockets: readonly TLSSocket[]): number {
  return sockets.filter((socket) => !socket.destroyed).length
}

function heldOpen(credentials: object): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = link.tls(credentials)
    socket.on('error', reject)
    socket.once('data', () => resolve(socket.resume()))
    socket.write(pingFrame())
  })
}

async function ended(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  socket.resume()
  await expect.poll(() => socket.closed).toBe(true)
}
