import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type Server } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readTlsFiles, type TlsFiles } from '../../src/config/identity-link.js'
import { type LinkListener, listenOnLink } from '../../src/identity-provider/link/link-listener.js'
import { connectSocket, type SocketClient } from '../../src/quorum-protocol/client.js'
import type { TlsEndpoint } from '../../src/quorum-protocol/endpoint.js'
import { type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'
import { type Authority, type Issued, makeAuthority, putInPlace } from '../support/certificates.js'
import { freePort } from '../support/ports.js'

const HOST = '127.0.0.1'
const NAMES = `DNS:identity,IP:${HOST}`
/** More than may be amid their handshakes at a time. */
const CROWD = 100
const HANDSHAKES_MAX = 64
/** A listener ends who is silent for 15 s, a client what is silent for 10. */
const SILENCE = { timeout: 60_000 }

let directory: string
let authority: Authority
let stranger: Authority
let identity: Issued
let service: Issued
let files: TlsFiles
let port: number
let server: SocketServer
let listener: LinkListener
let said: string[]
const clients: SocketClient[] = []
const sockets: Socket[] = []
let another: Server | null = null

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-link-'))
  authority = makeAuthority(directory, 'authority')
  stranger = makeAuthority(directory, 'stranger')
  identity = authority.issue('identity', { usage: 'serverAuth', names: NAMES })
  service = authority.issue('service', { usage: 'clientAuth' })
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

beforeEach(async () => {
  said = []
  const say = (context: object, message: string) =>
    void said.push(`${message} ${JSON.stringify(context)}`)
  const own = mkdtempSync(join(directory, 'served-'))
  files = {
    certificate: join(own, 'identity.pem'),
    key: join(own, 'identity.key'),
    authority: join(own, 'authority.pem'),
  }
  putInPlace(identity.certificate, files.certificate)
  putInPlace(identity.key, files.key)
  putInPlace(authority.certificate, files.authority)
  port = await freePort()
  server = await serveSocket({
    path: join(own, 'peer.sock'),
    handlers: { echo: (parameters) => parameters, sum: ([a, b]) => Number(a) + Number(b) },
    onFault: () => {},
  })
  listener = await listenOnLink({ listen: { host: HOST, port }, files }, server.serve, {
    info: say,
    warn: say,
    error: say,
  } as Parameters<typeof listenOnLink>[2])
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  for (const socket of sockets.splice(0)) socket.destroy()
  await listener?.close()
  await server?.close()
  await new Promise<void>((resolve) =>
    another === null ? resolve() : another.close(() => resolve()),
  )
  another = null
})

function endpoint(of: Issued, change: Partial<TlsEndpoint & { authority: string }> = {}) {
  const { authority: pinned = authority.certificate, ...rest } = change
  const named = { ...of, authority: pinned }
  return { host: HOST, port, serverName: null, credentials: () => readTlsFiles(named), ...rest }
}

interface Dialled {
  readonly client: SocketClient
  /** Why it has no answer so far, each reason as it came. */
  readonly reasons: string[]
}

function dial(to: TlsEndpoint): Dialled {
  const reasons: string[] = []
  const client = connectSocket({
    endpoint: to,
    peer: 'peer',
    onConnect: () => {},
    onDisconnect: () => {},
    onUnanswered: ({ message }) => void reasons.push(message),
  })
  clients.push(client)
  return { client, reasons }
}

/** Why it is not let in. @throws Error when it is */
async function refusal(to: TlsEndpoint): Promise<string> {
  const { client, reasons } = dial(to)
  await expect.poll(() => reasons.length > 1 || client.answering).toBe(true)
  expect(client.answering).toBe(false)
  return reasons.at(-1) ?? ''
}

async function answers(to: TlsEndpoint): Promise<SocketClient> {
  const { client, reasons } = dial(to)
  await expect.poll(() => client.answering, { message: reasons.join('; ') }).toBe(true)
  return client
}

/** The serial number of the certificate that is served now. */
function servedSerial(): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cert, key, ca } = readTlsFiles({ ...service, authority: authority.certificate })
    const socket = connect({ host: HOST, port, cert, key, ca }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

const renewed = (name: string, change: object = {}) =>
  authority.issue(name, { usage: 'serverAuth', names: NAMES, ...change })

/** What listens in the place of the identity provider. */
async function impostor(of: Issued): Promise<number> {
  const at = await freePort()
  const [cert, key, ca] = [of.certificate, of.key, authority.certificate].map((path) =>
    readFileSync(path),
  )
  another = createServer({ cert, key, ca, requestCert: true }, (socket) => {
    socket.on('error', () => {})
    server.serve(socket)
  })
  await new Promise<void>((resolve) => another?.listen(at, HOST, resolve))
  return at
}

describe('a service on another machine', () => {
  test('is answered over TLS 1.3, with as much in a frame as on the Unix socket', async () => {
    const client = await answers(endpoint(service))
    expect(await client.call('sum', [2, 3])).toBe(5)
    const long = Buffer.alloc(1_000_000, 7)
    const [echoed] = (await client.call('echo', [long])) as [Uint8Array]
    expect(Buffer.compare(echoed, long)).toBe(0)
    // By its name, too, where its address says nothing.
    await answers(endpoint(service, { serverName: 'identity' }))
  })

  test('is not let in without a certificate', async () => {
    const ca = readFileSync(authority.certificate)
    const outcome = await new Promise<string>((resolve) => {
      const socket = connect({ host: HOST, port, ca })
      sockets.push(socket)
      socket.on('error', ({ message }) => resolve(message))
      socket.on('data', () => resolve('answered'))
      socket.on('close', () => resolve('closed'))
      socket.write(pingFrame())
    })
    expect(outcome).toMatch(/certificate required/)
    expect(said.join()).toContain('PEER_DID_NOT_RETURN_A_CERTIFICATE')
  })

  test('is not let in with a certificate of another authority, or one that has ended', async () => {
    const foreign = stranger.issue('foreign', { usage: 'clientAuth' })
    const ended = authority.issue('ended', { usage: 'clientAuth', days: -1 })
    expect(await refusal(endpoint(foreign))).toMatch(/certificate of this side/)
    expect(said.join()).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/)
    expect(await refusal(endpoint(ended))).toMatch(/certificate of this side/)
  })

  test('is not let in with the certificate of an identity provider', async () => {
    expect(await refusal(endpoint(identity))).toMatch(/certificate of this side/)
    expect(said.join()).toContain('INVALID_PURPOSE')
  })

  test('is not let in by TLS 1.2, nor after a certificate was renewed', async () => {
    const { cert, key, ca } = readTlsFiles({ ...service, authority: authority.certificate })
    const attempt = () =>
      new Promise<string>((resolve) => {
        const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
        const socket = connect({ host: HOST, port, cert, key, ca, ...versions }, () =>
          resolve('in'),
        )
        sockets.push(socket)
        socket.on('error', ({ message }) => resolve(message))
      })
    expect(await attempt()).toMatch(/protocol version/)
    const before = await servedSerial()
    const next = renewed('identity-12')
    putInPlace(next.key, files.key)
    putInPlace(next.certificate, files.certificate)
    await expect.poll(servedSerial).not.toBe(before)
    expect(await attempt()).toMatch(/protocol version/)
    expect(await refusal(endpoint(stranger.issue('foreign-2', { usage: 'clientAuth' })))).toMatch(
      /certificate of this side/,
    )
  })

  test('does not go on with a session of before, whose certificate is asked for anew', async () => {
    const { cert, key, ca } = readTlsFiles({ ...service, authority: authority.certificate })
    const session = await new Promise<Buffer | null>((resolve, reject) => {
      const socket = connect({ host: HOST, port, cert, key, ca }, () => socket.write(pingFrame()))
      sockets.push(socket)
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
      const socket = connect({ host: HOST, port, ca, cert, key, ...kept }, () =>
        resolve(socket.isSessionReused()),
      )
      sockets.push(socket)
      socket.on('error', reject)
    })
    expect(isReused).toBe(false)
  })
})

describe('who answers in the place of the identity provider', () => {
  test('is not believed with a certificate of another authority', async () => {
    const at = await impostor(stranger.issue('impostor', { usage: 'serverAuth', names: NAMES }))
    expect(await refusal(endpoint(service, { port: at }))).toMatch(/unable to verify|issuer/)
  })

  test('is not believed with a certificate for another name or address', async () => {
    expect(await refusal(endpoint(service, { serverName: 'another' }))).toMatch(/altnames/)
    const at = await impostor(renewed('elsewhere', { names: 'DNS:identity,IP:127.0.0.2' }))
    expect(await refusal(endpoint(service, { port: at }))).toMatch(/127\.0\.0\.1 is not in/)
  })

  test('is not believed with a certificate that has ended, or one of a service', async () => {
    const ended = renewed('ended-identity', { days: -1 })
    expect(await refusal(endpoint(service, { port: await impostor(ended) }))).toMatch(/expired/)
    await new Promise((resolve) => another?.close(resolve))
    const other = authority.issue('other-service', { usage: 'clientAuth', names: NAMES })
    expect(await refusal(endpoint(service, { port: await impostor(other) }))).toMatch(/purpose/)
  })
})

describe('whoever reaches the port', () => {
  test('costs the others nothing by garbage, or a frame that is none', async () => {
    const client = await answers(endpoint(service))
    const garbage = await open()
    garbage.write(Buffer.alloc(100_000, 7))
    await ended(garbage)
    const { cert, key, ca } = readTlsFiles({ ...service, authority: authority.certificate })
    const insider = connect({ host: HOST, port, cert, key, ca }, () =>
      insider.write(Buffer.alloc(64, 255)),
    )
    sockets.push(insider)
    await ended(insider)
    expect(await client.call('sum', [1, 1])).toBe(2)
    expect(client.connected).toBe(true)
  })

  test('keeps nobody out by handshakes that are never finished, however many', async () => {
    const client = await answers(endpoint(service))
    const crowd: Socket[] = []
    for (let i = 0; i < CROWD; i++) crowd.push(await open())
    // A hello of which the rest does not come.
    for (const socket of crowd) socket.write(Buffer.from('160301010001', 'hex'))
    const closed = () => crowd.filter((socket) => socket.closed).length
    await expect.poll(closed).toBe(CROWD - HANDSHAKES_MAX)
    expect(await client.call('sum', [1, 2])).toBe(3)
    const late = await answers(endpoint(service))
    expect(await late.call('sum', [3, 4])).toBe(7)
    // Those that are left have their time, and are ended as well.
    await expect.poll(closed).toBe(CROWD)
  })
})

describe('a certificate that is renewed', () => {
  test('of the identity provider is served without a restart, and ends no connection', async () => {
    const client = await answers(endpoint(service))
    const before = await servedSerial()
    const next = renewed('identity-next')
    putInPlace(next.certificate, files.certificate)
    putInPlace(next.key, files.key)
    await expect.poll(servedSerial).not.toBe(before)
    expect(await client.call('sum', [5, 5])).toBe(10)
    await answers(endpoint(service))
    expect(said.join()).toContain('taken up a renewed certificate')
  })

  test('and is of no use is named, and the one before goes on', async () => {
    const before = await servedSerial()
    const next = renewed('identity-half')
    putInPlace(next.certificate, files.certificate)
    await expect.poll(() => said.join()).toContain(`${files.key} is not the key of`)
    expect(await servedSerial()).toBe(before)
    await answers(endpoint(service))
    // Its key comes late, and others could read it; then they cannot.
    putInPlace(next.key, files.key)
    await expect.poll(servedSerial).not.toBe(before)
    expect(said.filter((line) => line.includes('is not the key of'))).toHaveLength(1)
    expect(said.join()).not.toContain('PRIVATE KEY')
  })

  test('of the authority lets those of the next one in, and no longer those of the last', async () => {
    putInPlace(stranger.certificate, files.authority)
    const foreign = stranger.issue('next-service', { usage: 'clientAuth' })
    await expect.poll(() => said.join()).toContain('taken up a renewed certificate')
    await answers(endpoint(foreign))
    expect(await refusal(endpoint(service))).toMatch(/certificate of this side/)
  })

  test('of the service counts from its next connection on', async () => {
    const own = join(directory, 'service-files')
    mkdirSync(own)
    const mine = { certificate: join(own, 'service.pem'), key: join(own, 'service.key') }
    const ended = authority.issue('service-ended', { usage: 'clientAuth', days: -1 })
    putInPlace(ended.certificate, mine.certificate)
    putInPlace(ended.key, mine.key)
    const { client, reasons } = dial(endpoint(mine))
    await expect.poll(() => reasons.length).toBeGreaterThan(1)
    putInPlace(service.certificate, mine.certificate)
    putInPlace(service.key, mine.key)
    await expect.poll(() => client.answering).toBe(true)
    // A file that is gone is a connection that fails, and says which.
    rmSync(mine.key)
    client.reset()
    await expect.poll(() => reasons.join()).toContain(mine.key)
    putInPlace(service.key, mine.key)
    await expect.poll(() => client.answering).toBe(true)
  })
})

test('who is silent is not waited for, at either end', async () => {
  const { cert, key, ca } = readTlsFiles({ ...service, authority: authority.certificate })
  const mute = connect({ host: HOST, port, cert, key, ca })
  sockets.push(mute)
  const held = await freePort()
  another = createServer(
    readTlsFiles({ ...identity, authority: authority.certificate }),
    (socket) => socket.on('error', () => {}).resume(),
  )
  await new Promise<void>((resolve) => another?.listen(held, HOST, resolve))
  const unanswered = dial(endpoint(service, { port: held }))
  const neverOpen = await freePort()
  const deaf = createTcpServer((socket) => void sockets.push(socket))
  await new Promise<void>((resolve) => deaf.listen(neverOpen, HOST, resolve))
  const unopened = dial(endpoint(service, { port: neverOpen }))
  const client = await answers(endpoint(service))
  try {
    await expect.poll(() => unopened.reasons[0], SILENCE).toMatch(/nothing heard/)
    await expect.poll(() => unanswered.reasons[0], SILENCE).toMatch(/nothing heard/)
    await expect.poll(() => mute.closed, SILENCE).toBe(true)
    // While one that has nothing to say but that it lives stays.
    expect(client.answering).toBe(true)
    expect(await client.call('sum', [1, 1])).toBe(2)
  } finally {
    deaf.close()
  }
})

test('a client that is refused asks ever more seldom, as one that finds nobody', async () => {
  const foreign = stranger.issue('patient', { usage: 'clientAuth' })
  const { reasons } = dial(endpoint(foreign))
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
    const socket = connectTcp(port, HOST, () => resolve(socket))
    sockets.push(socket)
    socket.on('error', reject)
    socket.resume()
  })
}

async function ended(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  socket.resume()
  await expect.poll(() => socket.closed).toBe(true)
}
