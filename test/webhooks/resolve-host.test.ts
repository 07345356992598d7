import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explainDeliveryError } from '../../src/webhooks/delivery-error.js'
import { type ResolveHost, resolveByDns } from '../../src/webhooks/resolve-host.js'

const A = 1
const NO_ERROR = 0
const SERVER_FAILED = 2
const NO_SUCH_NAME = 3
/** Of header and question; the question's type is its last four bytes, with the class. */
const HEADER_BYTES = 12
/** The machine may keep all waiting for longer than a silent server is given: seconds. */
const TRIES_MAX = 3

/** What the server says of a name, by the type that is asked for; silence where there is nothing. */
const ZONE: Readonly<Record<string, (type: number) => { rcode: number; address?: Buffer }>> = {
  'both.test': (type) => ({
    rcode: NO_ERROR,
    address:
      type === A ? Buffer.from([8, 8, 8, 8]) : Buffer.from('26064700'.padEnd(32, '0'), 'hex'),
  }),
  'old.test': (type) => ({
    rcode: NO_ERROR,
    ...(type === A ? { address: Buffer.from([127, 0, 0, 1]) } : {}),
  }),
  'empty.test': () => ({ rcode: NO_ERROR }),
  'absent.test': () => ({ rcode: NO_SUCH_NAME }),
  'broken.test': () => ({ rcode: SERVER_FAILED }),
}

let server: Socket
let resolve: ResolveHost

beforeAll(async () => {
  server = createSocket('udp4')
  server.on('message', (query, { port }) => {
    const labels: string[] = []
    let at = HEADER_BYTES
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const said = ZONE[labels.join('.')]?.(type)
    if (said === undefined) return
    const answer = Buffer.from(query.subarray(0, at + 5))
    answer.writeUInt16BE(0x8180 | said.rcode, 2)
    answer.writeUInt16BE(said.address === undefined ? 0 : 1, 6)
    answer.writeUInt32BE(0, 8)
    server.send(said.address === undefined ? answer : [answer, recordOf(type, said.address)], port)
  })
  await new Promise<void>((bound) => server.bind(0, '127.0.0.1', bound))
  resolve = resolveByDns([`127.0.0.1:${server.address().port}`])
})
afterAll(() => server.close())

/** Of the name that was asked for, for a minute. */
function recordOf(type: number, address: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, address.byteLength]),
    address,
  ])
}

async function whyNot(hostname: string): Promise<string> {
  const answer = await resolve(hostname).catch((error: unknown) => error)
  return explainDeliveryError(answer)
}

describe('a name that a stranger chose', () => {
  it('is found by the addresses of both families', async () => {
    expect(await resolve('both.test')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::', family: 6 },
    ])
    expect(await resolve('old.test')).toEqual([{ address: '127.0.0.1', family: 4 }])
  })

  it('that is not there is told from one that cannot be looked up', async () => {
    expect(await whyNot('empty.test')).toBe('the host name does not resolve')
    expect(await whyNot('absent.test')).toBe('the host name does not resolve')
    expect(await whyNot('broken.test')).toBe('the host name could not be looked up')
  })

  it('whose server is silent is given up, and keeps nothing else from being found', async () => {
    let givenUpBefore = Number.POSITIVE_INFINITY
    for (let turn = 0; givenUpBefore > 0 && turn < TRIES_MAX; turn++) {
      let givenUp = 0
      const silent = Array.from({ length: 32 }, async (_, index) => {
        const why = await whyNot(`silent-${index}.test`)
        givenUp++
        return why
      })
      await lookup('localhost')
      await resolve('both.test')
      givenUpBefore = givenUp
      expect(new Set(await Promise.all(silent))).toEqual(
        new Set(['the host name could not be looked up']),
      )
    }
    expect(givenUpBefore).toBe(0)
  })
})
